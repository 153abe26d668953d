//! A new leader whose watch of pods is late does not know yet which pods the previous leader bound, so that taken room looks
//! free. It decides nothing before it has seen as much as any replica has published.

use super::Step;
use common::cluster::Cluster;
use std::time::Duration;

/// How long a new leader waits at most. Its own watch may never reach the version, as after etcd was restored from a backup.
const WAIT_MAX: Duration = Duration::from_secs(15);

/// What a new leader has yet to see.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lag {
    /// The newest version of a pod that any replica has published.
    pods: u64,
    pub(super) until: Duration,
}

impl Lag {
    /// For a replica that begins to lead; `None` if it has seen enough.
    pub(super) fn new(step: &Step<'_>) -> Option<Self> {
        let lag = Self {
            pods: step.cluster.newest_pod_seen_by_replicas(),
            until: step.now.elapsed.saturating_add(WAIT_MAX),
        };
        lag.is_behind(step.cluster, step.now.elapsed).then_some(lag)
    }

    /// Whether the leader has to wait longer.
    pub(super) fn is_behind(&self, cluster: &Cluster, elapsed: Duration) -> bool {
        cluster.newest_versions().1 < self.pods && elapsed < self.until
    }
}
