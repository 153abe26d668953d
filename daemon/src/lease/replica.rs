//! The Lease of this replica: what it has seen, so that whoever wrote a reservation knows when everybody enforces it.
//!
//! Nobody else writes it, so it is written without a version: made when it is not there, else patched.

use crate::clock::Clock;
use crate::effects::{Outcome, call};
use crate::state::{Now, Sight};
use common::api::replica::{lease, lease_name};
use common::model::Replica;
use common::model::object::Meta;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// How long what is published is good.
const GOOD_FOR: Duration = Duration::from_secs(15);

/// How much sooner this replica itself stops relying on it: nobody may count on it after others gave it up, whose
/// clocks go by the second.
const MARGIN: Duration = Duration::from_secs(2);

/// How often it is published when nothing happens.
const RENEWAL: Duration = Duration::from_secs(5);

/// How long it is kept back when much happens: ten a second.
const APART_MIN: Duration = Duration::from_millis(100);

/// How soon the first one is tried again.
const FIRST_PAUSE: Duration = Duration::from_millis(900);

/// Between two looks whether the API server has told the time.
const LOOK: Duration = Duration::from_millis(20);

/// Whether others can rely on this replica: its Lease is good, or it may not have one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// Milliseconds of [`Now::elapsed`]; 0 before the first Lease, the highest when there is none to lapse.
    until: Arc<AtomicU64>,
    /// Whether the API server has said yes or no to the first Lease.
    is_settled: Arc<AtomicBool>,
}

impl Standing {
    /// That of a replica without a Lease, which never lapses.
    #[cfg(test)]
    pub(crate) fn for_ever() -> Self {
        Self { until: Arc::new(AtomicU64::new(u64::MAX)), is_settled: Arc::new(AtomicBool::new(true)) }
    }

    /// Whether what this replica says counts at `now`.
    pub(crate) fn is_good(&self, now: Now) -> bool {
        now.elapsed.as_millis() < u128::from(self.until.load(Ordering::SeqCst))
    }

    /// Whether others have stopped counting on this replica: whoever wrote a reservation since did not wait until it was seen
    /// here. What is believed here is of no use before everything was listed again.
    pub(crate) fn has_lapsed(&self, now: Now) -> bool {
        self.until.load(Ordering::SeqCst) > 0 && !self.is_good(now)
    }

    /// Done when everybody can know of this replica: whoever writes a reservation from then on waits for it, and whatever was
    /// written before is in what it lists from then on.
    pub(crate) async fn settled(&self) {
        while !self.is_settled.load(Ordering::SeqCst) {
            tokio::time::sleep(LOOK).await;
        }
    }

    fn set(&self, until: Duration) {
        self.until.store(u64::try_from(until.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }
}

/// Publishes what this replica has seen.
pub(crate) struct Publisher {
    leases: Api<Lease>,
    clock: Clock,
    namespace: String,
    replica: String,
    sight: watch::Receiver<Sight>,
    standing: Standing,
    /// Whether this replica may not write reservations.
    is_restricted: bool,
    /// What went wrong last; it is said once.
    problem: Option<String>,
}

impl Publisher {
    /// A publisher of `sight` as the Lease of `replica`.
    pub(crate) fn new(
        client: Client,
        clock: Clock,
        (namespace, replica): (&str, &str),
        sight: watch::Receiver<Sight>,
        standing: Standing,
    ) -> Self {
        let leases = Api::namespaced(client, namespace);
        let (namespace, replica) = (namespace.to_owned(), replica.to_owned());
        Self { leases, clock, namespace, replica, sight, standing, is_restricted: false, problem: None }
    }

    /// Says that this replica may not write reservations.
    pub(crate) fn restricted(mut self, is_restricted: bool) -> Self {
        self.is_restricted = is_restricted;
        self
    }

    /// Publishes until `stop`, and then takes the Lease away: nobody has to wait for one that is gone.
    pub(crate) async fn run(mut self, mut stop: oneshot::Receiver<()>) {
        // By a clock that is wrong the Lease would be one that nobody has to heed, of a replica that may be about to decide.
        tokio::select! {
            biased;
            _ = &mut stop => return,
            _ = tokio::time::timeout(RENEWAL, self.told()) => {}
        }
        loop {
            self.publish().await;
            tokio::select! {
                biased;
                _ = &mut stop => break,
                () = self.reason() => {}
            }
        }
        self.standing.set(Duration::ZERO);
        let name = lease_name(&self.replica);
        if let Outcome::Refused(status) = call(self.leases.delete(&name, &DeleteParams::default())).await
            && !matches!(status.code, 403 | 404)
        {
            tracing::warn!(lease = name, "delete: {}", status.message);
        }
    }

    /// Done when the API server has told the time: the watches have asked for their lists by now.
    async fn told(&self) {
        while !self.clock.is_told() {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Done when there is a reason to publish: somebody waits for it, or the Lease is to be renewed.
    async fn reason(&mut self) {
        tokio::time::sleep(APART_MIN).await;
        // Nothing is listed before the first one.
        if !self.standing.is_settled.load(Ordering::SeqCst) {
            return tokio::time::sleep(FIRST_PAUSE).await;
        }
        // An error means that nobody will say anything any more; the renewals go on.
        if let Ok(Err(_)) = tokio::time::timeout(RENEWAL - APART_MIN, self.sight.changed()).await {
            tokio::time::sleep(RENEWAL - APART_MIN).await;
        }
    }

    async fn publish(&mut self) {
        let begun = self.clock.now();
        // There is no way back from a lapse. A Lease that is good again would only be waited for.
        if self.standing.has_lapsed(begun) {
            return;
        }
        let was_told = self.clock.is_told();
        let wanted = lease(&self.replica(begun));
        let name = lease_name(&self.replica);
        let patch = Patch::Merge(&wanted);
        let mut outcome = call(self.leases.patch(&name, &PatchParams::default(), &patch)).await;
        if let Outcome::Refused(status) = &outcome
            && status.code == 404
        {
            outcome = self.create(&wanted).await;
        }
        match outcome {
            // Nor from one that came meanwhile.
            Outcome::Done(_) if self.standing.has_lapsed(self.clock.now()) => {}
            // This very answer told the time. The Lease may have a wrong one, by which nobody waits for this replica.
            Outcome::Done(_) if !was_told && self.clock.is_told() => {}
            Outcome::Done(_) => {
                self.standing.set(begun.elapsed + (GOOD_FOR - MARGIN));
                self.standing.is_settled.store(true, Ordering::SeqCst);
                self.problem = None;
            }
            Outcome::Refused(status) => {
                // Without a Lease nobody waits for this replica, and it does what it can.
                self.standing.is_settled.store(true, Ordering::SeqCst);
                if status.code == 403 {
                    // Nobody counts on a replica without a Lease, so nothing lapses.
                    self.standing.set(Duration::MAX);
                }
                self.complain(status.message);
            }
            Outcome::Unknown(why) => self.complain(why),
        }
    }

    async fn create(&self, wanted: &serde_json::Value) -> Outcome<Lease> {
        match serde_json::from_value(wanted.clone()) {
            Ok(new) => call(self.leases.create(&PostParams::default(), &new)).await,
            Err(error) => Outcome::Unknown(error.to_string()),
        }
    }

    fn replica(&mut self, now: Now) -> Replica {
        let sight = self.sight.borrow_and_update().clone();
        Replica {
            meta: Meta {
                namespace: self.namespace.as_str().into(),
                name: lease_name(&self.replica).into(),
                uid: "".into(),
                resource_version: 0,
                is_deleting: false,
            },
            name: self.replica.as_str().into(),
            seen_nodes: sight.nodes,
            seen_pods: sight.pods,
            schedulers: sight.schedulers.iter().cloned().collect(),
            extends: sight.extends.iter().cloned().collect(),
            renewed: Some(now.wall),
            duration: GOOD_FOR,
            version: env!("CARGO_PKG_VERSION").into(),
            is_restricted: self.is_restricted,
        }
    }

    fn complain(&mut self, why: String) {
        if self.problem.as_ref() != Some(&why) {
            tracing::warn!(
                lease = lease_name(&self.replica),
                "publish what was seen: {why}; reservations cannot be acknowledged meanwhile"
            );
            self.problem = Some(why);
        }
    }
}
