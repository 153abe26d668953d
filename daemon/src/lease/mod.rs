//! The Leases: which replica leads, and what each replica has seen.
//!
//! [`election`] decides what to do with the leader's Lease, without a client or a clock. [`Election::run`] carries these actions
//! out in a task of its own, so that a busy loop cannot make a leader miss a renewal. [`replica`] publishes what this replica
//! has seen.
//!
//! Must not know: what a leader does.

pub mod election;
mod leadership;
pub(crate) mod replica;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use leadership::{Leadership, LeadershipLost};

use crate::clock::Clock;
use crate::effects::{Outcome, call};
use common::config::LeaderElection;
use election::{Action, Candidate, Record, Timing};
use jiff::SignedDuration;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::PostParams;
use kube::{Api, Client};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// Takes part in the election: carries out what [`election`] decides.
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
    /// The Lease as it was last read or written, so that a write keeps its other fields.
    last: Lease,
    leadership: Leadership,
    is_leading: watch::Sender<bool>,
}

impl Election {
    /// An election by the Lease of the configuration. `is_leading` receives whether this replica leads, at each change.
    pub(crate) fn new(
        config: &LeaderElection,
        replica: &str,
        client: Client,
        clock: Clock,
        mut rng: fastrand::Rng,
        (leadership, is_leading): (Leadership, watch::Sender<bool>),
    ) -> Self {
        let length = |signed: SignedDuration| Duration::try_from(signed).unwrap_or_default();
        let timing = Timing {
            lease: length(config.lease_duration),
            deadline: length(config.renew_deadline),
            retry: length(config.retry_period),
        };
        // The fence policy compares the part before `_` with the pod name in the token.
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
            is_leading,
        }
    }

    /// Takes part until `stop`, and then releases the Lease. The caller must have stopped acting as the leader before.
    pub(crate) async fn run(mut self, mut stop: oneshot::Receiver<()>) -> Result<(), LeadershipLost> {
        let mut leads = false;
        loop {
            self.attempt().await;
            if leads && !self.candidate.is_leading(self.elapsed()) {
                return Err(self.lost().await);
            }
            if !leads && self.candidate.is_leading(self.elapsed()) {
                leads = true;
                tracing::info!(lease = self.lease_name(), identity = self.identity, "leads");
                self.is_leading.send_replace(true);
                self.record_event("became leader").await;
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

    /// Reads the Lease, and writes it if this candidate may. A leader tries for as long as it leads.
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

    /// true: the Lease was read, or does not exist. false: the call failed.
    async fn read(&mut self) -> bool {
        let (leases, name) = (self.leases.clone(), self.name.clone());
        let lease = match self.timed(leases.get(&name)).await {
            Outcome::Done(lease) => Some(lease),
            Outcome::Refused(status) if status.code == 404 => None,
            Outcome::Refused(status) => return self.log_failure("read", &status.message),
            Outcome::Unknown(why) => return self.log_failure("read", &why),
        };
        let seen = lease.as_ref().map(|lease| (wire::record(lease), wire::version(lease)));
        self.last = lease.unwrap_or_default();
        self.candidate.saw(seen, self.elapsed());
        true
    }

    /// true: this try is over, the write succeeded or failed. false: there was a conflict, read the Lease again.
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
            Outcome::Refused(status) => self.log_failure("write", &status.message),
            Outcome::Unknown(why) => self.log_failure("write", &why),
        };
        self.candidate.failed();
        true
    }

    /// Makes a call with half of the renew deadline as its timeout, so that one unanswered call leaves time for another try.
    async fn timed<T>(&self, future: impl Future<Output = kube::Result<T>>) -> Outcome<T> {
        match tokio::time::timeout(self.timing.deadline / 2, call(future)).await {
            Ok(outcome) => outcome,
            Err(_) => Outcome::Unknown("no answer in time".into()),
        }
    }

    /// How long to wait before the next try: the retry period minus a random part of up to a quarter, but not beyond the end of
    /// this leadership or the expiry of another candidate's Lease.
    fn rest(&mut self) -> Duration {
        let least = self.timing.retry / 4 * 3;
        let span = u64::try_from((self.timing.retry / 4).as_millis()).unwrap_or(0);
        let rest = least + Duration::from_millis(self.rng.u64(0..=span));
        let until = self.candidate.leads_until().or(self.candidate.free_at());
        let left = until.and_then(|until| until.checked_sub(self.elapsed())).filter(|left| !left.is_zero());
        left.map_or(rest, |left| rest.min(left))
    }

    /// Releases the Lease, so that the next leader need not wait.
    async fn release(mut self) {
        let Some((record, version)) = self.candidate.release(self.clock.now().wall) else { return };
        self.leadership.set(Duration::ZERO);
        let wanted = wire::lease(&self.last, &self.namespace, &self.name, &record, Some(version));
        match self.timed(self.leases.replace(&self.name, &PostParams::default(), &wanted)).await {
            Outcome::Done(_) => self.record_event("stopped leading").await,
            Outcome::Refused(status) => {
                tracing::warn!(lease = self.lease_name(), "release: {}", status.message)
            }
            Outcome::Unknown(why) => tracing::warn!(lease = self.lease_name(), "release: {why}"),
        }
    }

    async fn lost(&self) -> LeadershipLost {
        self.leadership.set(Duration::ZERO);
        self.is_leading.send_replace(false);
        self.record_event("stopped leading").await;
        let why = match self.candidate.leads_until() {
            Some(_) => "it could not be renewed in time",
            None => "somebody else has it",
        };
        LeadershipLost { lease: self.lease_name(), why }
    }

    /// Writes an event about the Lease. Events are not important, so the call has only one retry period.
    async fn record_event(&self, what: &str) {
        let now = self.clock.now().wall;
        let event = wire::event(&self.last, &self.namespace, &self.name, &self.identity, what, now);
        let events = Api::namespaced(self.client.clone(), &self.namespace);
        let params = PostParams::default();
        let written = tokio::time::timeout(self.timing.retry, events.create(&params, &event));
        if let Ok(Err(error)) = written.await {
            tracing::debug!(lease = self.lease_name(), "write an event: {error}");
        }
    }

    fn log_failure(&self, what: &str, why: &str) -> bool {
        tracing::warn!(lease = self.lease_name(), "{what}: {why}");
        false
    }

    fn lease_name(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    fn elapsed(&self) -> Duration {
        self.clock.now().elapsed
    }
}
