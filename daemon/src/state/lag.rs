//! A new leader whose watch of pods is late: it does not know yet what the leader before it has bound, so that room which is
//! taken looks free. It decides nothing before it has seen as much as any replica said that it had seen.

use super::Step;
use common::cluster::Cluster;
use std::time::Duration;

/// How long a new leader waits at most. A version can belong to something that its own watch never tells, as after etcd was
/// restored from a backup.
const WAIT_MAX: Duration = Duration::from_secs(15);

/// What a new leader has yet to see.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lag {
    pods: u64,
    pub(super) until: Duration,
}

impl Lag {
    /// What this replica has yet to see now that it leads.
    pub(super) fn of(step: &Step<'_>) -> Option<Self> {
        let lag =
            Self { pods: step.cluster.seen_elsewhere(), until: step.now.elapsed.saturating_add(WAIT_MAX) };
        lag.is_there(step.cluster, step.now.elapsed).then_some(lag)
    }

    /// Whether it is still to be seen, and still waited for.
    pub(super) fn is_there(&self, cluster: &Cluster, elapsed: Duration) -> bool {
        cluster.newest().1 < self.pods && elapsed < self.until
    }
}
