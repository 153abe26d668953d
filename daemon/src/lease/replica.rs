//! The Lease of this replica. It says what the replica has seen, so that a writer of a reservation knows when all replicas
//! enforce it. Entry point: [`Publisher::run`].
//!
//! Only this replica writes its Lease, so writes need no resource version: the Lease is patched, and created if missing.
//!
//! The Lease is published once the API server has told the time, and nodes and pods are listed only after that: whoever writes a
//! reservation either waits for this replica, or wrote it before the list. When the Lease lapses, the daemon ends: writers did not wait
//! for this replica meanwhile, so it has to list everything again.

use crate::clock::Clock;
use crate::effects::{Outcome, call};
use crate::state::{Now, ReplicaStatus};
use common::api::replica::{lease, lease_name};
use common::model::{ObjectMeta, Replica};
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// How long the published Lease is valid.
const LEASE_DURATION: Duration = Duration::from_secs(15);

/// How much earlier this replica itself treats its Lease as lapsed: it must stop before others stop waiting for it, and their
/// clocks are exact only to the second.
const MARGIN: Duration = Duration::from_secs(2);

/// How often the Lease is renewed when nothing changes.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(5);

/// The least time between two writes of the Lease: ten writes a second.
const INTERVAL_MIN: Duration = Duration::from_millis(100);

/// The pause before the first Lease is tried again.
const FIRST_RETRY_PAUSE: Duration = Duration::from_millis(900);

/// The time between two checks of a flag that another task sets.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Whether others can rely on this replica's Lease: the Lease is valid, or the API server does not allow one. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeaseValidity {
    /// Milliseconds of [`Now::elapsed`]; 0 before the first Lease, the maximum when no Lease is allowed, so that none can lapse.
    until: Arc<AtomicU64>,
    /// Whether the API server has accepted or refused the first Lease.
    is_settled: Arc<AtomicBool>,
}

impl LeaseValidity {
    /// The validity of a replica without a Lease, which never lapses.
    #[cfg(test)]
    pub(crate) fn for_ever() -> Self {
        Self { until: Arc::new(AtomicU64::new(u64::MAX)), is_settled: Arc::new(AtomicBool::new(true)) }
    }

    /// Whether others can rely on this replica at `now`.
    pub(crate) fn is_valid(&self, now: Now) -> bool {
        now.elapsed.as_millis() < u128::from(self.until.load(Ordering::SeqCst))
    }

    /// Whether the Lease has lapsed. Writers of reservations have not waited for this replica since then, so its belief cannot be
    /// used before everything is listed again.
    pub(crate) fn has_lapsed(&self, now: Now) -> bool {
        self.until.load(Ordering::SeqCst) > 0 && !self.is_valid(now)
    }

    /// Done when the API server has accepted or refused the first Lease. Writers of reservations wait for this replica from then
    /// on, and every reservation that was written before is part of the lists that are read after.
    pub(crate) async fn wait_until_settled(&self) {
        while !self.is_settled.load(Ordering::SeqCst) {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    fn set(&self, until: Duration) {
        self.until.store(u64::try_from(until.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }
}

pub(crate) struct Publisher {
    leases: Api<Lease>,
    clock: Clock,
    namespace: String,
    replica: String,
    status: watch::Receiver<ReplicaStatus>,
    validity: LeaseValidity,
    is_restricted: bool,
    /// The last problem, so that it is logged only once.
    problem: Option<String>,
}

impl Publisher {
    /// A publisher that writes `status` into the Lease of `replica`.
    pub(crate) fn new(
        client: Client,
        clock: Clock,
        (namespace, replica): (&str, &str),
        status: watch::Receiver<ReplicaStatus>,
        validity: LeaseValidity,
    ) -> Self {
        let leases = Api::namespaced(client, namespace);
        let (namespace, replica) = (namespace.to_owned(), replica.to_owned());
        Self { leases, clock, namespace, replica, status, validity, is_restricted: false, problem: None }
    }

    /// Sets whether the Lease says that this replica may not write reservations.
    pub(crate) fn restricted(mut self, is_restricted: bool) -> Self {
        self.is_restricted = is_restricted;
        self
    }

    /// Publishes until `stop`, and then deletes the Lease, so that nobody waits for a replica that has ended.
    pub(crate) async fn run(mut self, mut stop: oneshot::Receiver<()>) {
        // With a wrong clock the Lease would look expired: nobody would wait for this replica, which may be about to decide.
        tokio::select! {
            biased;
            _ = &mut stop => return,
            _ = tokio::time::timeout(RENEWAL_INTERVAL, self.wait_until_clock_is_set()) => {}
        }
        loop {
            self.publish().await;
            tokio::select! {
                biased;
                _ = &mut stop => break,
                () = self.wait_for_reason() => {}
            }
        }
        self.validity.set(Duration::ZERO);
        let name = lease_name(&self.replica);
        if let Outcome::Refused(status) = call(self.leases.delete(&name, &DeleteParams::default())).await
            && !matches!(status.code, 403 | 404)
        {
            tracing::warn!(lease = name, "delete: {}", status.message);
        }
    }

    /// Done when the clock has the API server's time. The first answers to the watches' lists set it.
    async fn wait_until_clock_is_set(&self) {
        while !self.clock.is_set_by_api_server() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Done when the Lease is to be written: there is news that a writer may wait for, or a renewal is due.
    async fn wait_for_reason(&mut self) {
        tokio::time::sleep(INTERVAL_MIN).await;
        // Nodes and pods are listed only after the first Lease, so it is retried soon.
        if !self.validity.is_settled.load(Ordering::SeqCst) {
            return tokio::time::sleep(FIRST_RETRY_PAUSE).await;
        }
        // An error means that the sender is gone; the renewals go on.
        if let Ok(Err(_)) = tokio::time::timeout(RENEWAL_INTERVAL - INTERVAL_MIN, self.status.changed()).await
        {
            tokio::time::sleep(RENEWAL_INTERVAL - INTERVAL_MIN).await;
        }
    }

    async fn publish(&mut self) {
        let begun = self.clock.now();
        // A lapse is final. If the Lease became valid again, writers would wait for a replica that is about to end.
        if self.validity.has_lapsed(begun) {
            return;
        }
        let was_set = self.clock.is_set_by_api_server();
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
            // The Lease lapsed during the call, which is final too.
            Outcome::Done(_) if self.validity.has_lapsed(self.clock.now()) => {}
            // This answer set the clock. The Lease was written with a clock that may be wrong, so nobody may wait for it yet.
            Outcome::Done(_) if !was_set && self.clock.is_set_by_api_server() => {}
            Outcome::Done(_) => {
                self.validity.set(begun.elapsed + (LEASE_DURATION - MARGIN));
                self.validity.is_settled.store(true, Ordering::SeqCst);
                self.problem = None;
            }
            Outcome::Refused(status) => {
                // Without a Lease nobody waits for this replica; it works without acknowledging reservations.
                self.validity.is_settled.store(true, Ordering::SeqCst);
                if status.code == 403 {
                    // Nobody waits for a replica without a Lease, so nothing can lapse.
                    self.validity.set(Duration::MAX);
                }
                self.log_problem(status.message);
            }
            Outcome::Unknown(why) => self.log_problem(why),
        }
    }

    async fn create(&self, wanted: &serde_json::Value) -> Outcome<Lease> {
        match serde_json::from_value(wanted.clone()) {
            Ok(new) => call(self.leases.create(&PostParams::default(), &new)).await,
            Err(error) => Outcome::Unknown(error.to_string()),
        }
    }

    fn replica(&mut self, now: Now) -> Replica {
        let status = self.status.borrow_and_update().clone();
        Replica {
            meta: ObjectMeta {
                namespace: self.namespace.as_str().into(),
                name: lease_name(&self.replica).into(),
                uid: "".into(),
                resource_version: 0,
                is_deleting: false,
            },
            name: self.replica.as_str().into(),
            seen_nodes: status.nodes,
            seen_pods: status.pods,
            schedulers: status.schedulers.iter().cloned().collect(),
            extends: status.extends.iter().cloned().collect(),
            renew_time: Some(now.wall),
            duration: LEASE_DURATION,
            version: env!("CARGO_PKG_VERSION").into(),
            is_restricted: self.is_restricted,
        }
    }

    fn log_problem(&mut self, why: String) {
        if self.problem.as_ref() != Some(&why) {
            tracing::warn!(
                lease = lease_name(&self.replica),
                "publish what was seen: {why}; reservations cannot be acknowledged meanwhile"
            );
            self.problem = Some(why);
        }
    }
}
