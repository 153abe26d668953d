//! The Leases: who leads, and what each replica has seen.
//!
//! [`election`] decides, without a client or a clock; here its wishes are carried out, by a task of its own, so that a
//! busy loop cannot make a leader miss its renewals. [`replica`] publishes what this replica has seen.
//!
//! Knows nothing of: what a leader does.

pub mod election;
pub(crate) mod replica;
#[cfg(test)]
mod tests;
mod wire;

use crate::clock::Clock;
use crate::effects::{Outcome, call};
use crate::state::Now;
use common::config::LeaderElection;
use election::{Action, Candidate, Record, Timing};
use jiff::SignedDuration;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::PostParams;
use kube::{Api, Client};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// Until when this replica leads. Whoever acts as the leader asks here right before: an input that says that it is over
/// may still wait behind others.
#[derive(Clone, Debug)]
pub(crate) struct Leadership {
    /// Milliseconds of [`Now::elapsed`], or one of the two below.
    until: Arc<AtomicU64>,
}

/// It never led.
const NEVER: u64 = 0;

/// It no longer leads.
const OVER: u64 = 1;

impl Leadership {
    /// One that has not begun.
    pub(crate) fn none() -> Self {
        Self { until: Arc::new(AtomicU64::new(NEVER)) }
    }

    /// One without an election, which never ends.
    pub(crate) fn for_ever() -> Self {
        Self { until: Arc::new(AtomicU64::new(u64::MAX)) }
    }

    /// Whether this replica leads.
    pub(crate) fn is_held(&self, now: Now) -> bool {
        let until = self.until.load(Ordering::SeqCst);
        until > OVER && now.elapsed.as_millis() < u128::from(until)
    }

    /// Whether it has led and no longer does. There is no way back: what it decided is out of date.
    pub(crate) fn is_lost(&self, now: Now) -> bool {
        self.until.load(Ordering::SeqCst) > NEVER && !self.is_held(now)
    }

    /// For how long it should be over by now, if it has led; without an election never.
    pub(crate) fn overdue(&self, elapsed: Duration) -> Duration {
        match self.until.load(Ordering::SeqCst) {
            NEVER => Duration::ZERO,
            until => elapsed.saturating_sub(Duration::from_millis(until)),
        }
    }

    /// It leads until then, unless told otherwise before.
    pub(crate) fn set(&self, until: Duration) {
        let millis = u64::try_from(until.as_millis()).unwrap_or(u64::MAX).max(OVER);
        self.until.store(millis, Ordering::SeqCst);
    }
}

/// Why the leadership ended.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("lost the Lease {lease}: {why}")]
pub(crate) struct Lost {
    lease: String,
    why: &'static str,
}

/// The election, with its hands.
pub(crate) struct Election {
    leases: Api<Lease>,
    client: Client,
    clock: Clock,
    rng: fastrand::Rng,
    timing: Timing,
    namespace: String,
    name: String,
    identity: String,
    candidate: Candidate<String>,
    /// The Lease as it was last read or written, so that nothing else in it is lost.
    last: Lease,
    leadership: Leadership,
    turned: watch::Sender<bool>,
}

impl Election {
    /// An election by the Lease of the configuration. `turned` hears when this replica becomes the leader.
    pub(crate) fn new(
        config: &LeaderElection,
        replica: &str,
        client: Client,
        clock: Clock,
        mut rng: fastrand::Rng,
        (leadership, turned): (Leadership, watch::Sender<bool>),
    ) -> Self {
        let length = |signed: SignedDuration| Duration::try_from(signed).unwrap_or_default();
        let timing = Timing {
            lease: length(config.lease_duration),
            deadline: length(config.renew_deadline),
            retry: length(config.retry_period),
        };
        // The part before the mark is what the fence policy compares with the pod in the token.
        let identity = format!("{replica}_{:016x}", rng.u64(..));
        let namespace = config.resource_namespace.clone();
        Self {
            leases: Api::namespaced(client.clone(), &namespace),
            client,
            clock,
            rng,
            timing,
            namespace,
            name: config.resource_name.clone(),
            candidate: Candidate::new(identity.clone(), timing),
            identity,
            last: Lease::default(),
            leadership,
            turned,
        }
    }

    /// Takes part until `stop`, and then lets go of the Lease: by then nothing may be done as the leader any more.
    pub(crate) async fn run(mut self, mut stop: oneshot::Receiver<()>) -> Result<(), Lost> {
        let mut leads = false;
        loop {
            self.attempt().await;
            if leads && !self.candidate.is_leading(self.elapsed()) {
                return Err(self.lost().await);
            }
            if !leads && self.candidate.is_leading(self.elapsed()) {
                leads = true;
                tracing::info!(lease = self.place(), identity = self.identity, "leads");
                self.turned.send_replace(true);
                self.tell("became leader").await;
            }
            tokio::select! {
                biased;
                _ = &mut stop => break,
                () = tokio::time::sleep(self.rest()) => {}
            }
        }
        self.release().await;
        Ok(())
    }

    /// Looks at the Lease, and writes it if it may; a leader for as long as it leads.
    async fn attempt(&mut self) {
        let now = self.elapsed();
        let patience = match self.candidate.leads_until() {
            Some(until) => until.saturating_sub(now),
            None => self.timing.deadline,
        };
        self.candidate.begin(now);
        if tokio::time::timeout(patience, self.steps()).await.is_err() {
            self.candidate.failed();
        }
    }

    async fn steps(&mut self) {
        loop {
            let begun = self.clock.now();
            let is_done = match self.candidate.next(begun.elapsed, begun.wall) {
                Action::Read => !self.read().await,
                Action::Write(record, over) => self.write(record, over, begun.elapsed).await,
                Action::Rest => true,
            };
            if is_done {
                return;
            }
        }
    }

    /// Whether the Lease could be read, or is known not to be there.
    async fn read(&mut self) -> bool {
        let (leases, name) = (self.leases.clone(), self.name.clone());
        let lease = match self.timed(leases.get(&name)).await {
            Outcome::Done(lease) => Some(lease),
            Outcome::Refused(status) if status.code == 404 => None,
            Outcome::Refused(status) => return self.complain("read", &status.message),
            Outcome::Unknown(why) => return self.complain("read", &why),
        };
        let seen = lease.as_ref().map(|lease| (wire::record(lease), wire::version(lease)));
        self.last = lease.unwrap_or_default();
        self.candidate.saw(seen, self.elapsed());
        true
    }

    /// Whether this try is over: written, or no use. A conflict is a reason to look again.
    async fn write(&mut self, record: Record, over: Option<String>, begun: Duration) -> bool {
        let (leases, name) = (self.leases.clone(), self.name.clone());
        let wanted = wire::lease(&self.last, &self.namespace, &name, &record, over.clone());
        let params = PostParams::default();
        let write = async {
            match over {
                Some(_) => leases.replace(&name, &params, &wanted).await,
                None => leases.create(&params, &wanted).await,
            }
        };
        match self.timed(write).await {
            Outcome::Done(lease) => {
                self.candidate.wrote(record, wire::version(&lease), begun);
                self.last = lease;
                if let Some(until) = self.candidate.leads_until() {
                    self.leadership.set(until);
                }
                return true;
            }
            Outcome::Refused(status) if matches!(status.code, 404 | 409) => {
                self.candidate.failed();
                return false;
            }
            Outcome::Refused(status) => self.complain("write", &status.message),
            Outcome::Unknown(why) => self.complain("write", &why),
        };
        self.candidate.failed();
        true
    }

    /// A call gets half of the time in which a leader has to renew, so that one black hole leaves time for another try.
    async fn timed<T>(&self, future: impl Future<Output = kube::Result<T>>) -> Outcome<T> {
        match tokio::time::timeout(self.timing.deadline / 2, call(future)).await {
            Ok(outcome) => outcome,
            Err(_) => Outcome::Unknown("no answer in time".into()),
        }
    }

    /// A little less than the retry period, each time by another bit; never beyond the end of the leadership, or of the
    /// patience with somebody else's.
    fn rest(&mut self) -> Duration {
        let least = self.timing.retry / 4 * 3;
        let span = u64::try_from((self.timing.retry / 4).as_millis()).unwrap_or(0);
        let rest = least + Duration::from_millis(self.rng.u64(0..=span));
        let until = self.candidate.leads_until().or(self.candidate.patient_until());
        let left = until.and_then(|until| until.checked_sub(self.elapsed())).filter(|left| !left.is_zero());
        left.map_or(rest, |left| rest.min(left))
    }

    /// Lets go of the Lease, so that the next leader need not wait.
    async fn release(mut self) {
        let Some((record, version)) = self.candidate.release(self.clock.now().wall) else { return };
        self.leadership.set(Duration::ZERO);
        let wanted = wire::lease(&self.last, &self.namespace, &self.name, &record, Some(version));
        match self.timed(self.leases.replace(&self.name, &PostParams::default(), &wanted)).await {
            Outcome::Done(_) => self.tell("stopped leading").await,
            Outcome::Refused(status) => tracing::warn!(lease = self.place(), "release: {}", status.message),
            Outcome::Unknown(why) => tracing::warn!(lease = self.place(), "release: {why}"),
        }
    }

    async fn lost(&self) -> Lost {
        self.leadership.set(Duration::ZERO);
        self.turned.send_replace(false);
        self.tell("stopped leading").await;
        let why = match self.candidate.leads_until() {
            Some(_) => "it could not be renewed in time",
            None => "somebody else has it",
        };
        Lost { lease: self.place(), why }
    }

    /// Records an event about the Lease. It is talk, and gets no longer than a rest.
    async fn tell(&self, what: &str) {
        let now = self.clock.now().wall;
        let event = wire::event(&self.last, &self.namespace, &self.name, &self.identity, what, now);
        let events = Api::namespaced(self.client.clone(), &self.namespace);
        let params = PostParams::default();
        let written = tokio::time::timeout(self.timing.retry, events.create(&params, &event));
        if let Ok(Err(error)) = written.await {
            tracing::debug!(lease = self.place(), "write an event: {error}");
        }
    }

    fn complain(&self, what: &str, why: &str) -> bool {
        tracing::warn!(lease = self.place(), "{what}: {why}");
        false
    }

    fn place(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    fn elapsed(&self) -> Duration {
        self.clock.now().elapsed
    }
}
