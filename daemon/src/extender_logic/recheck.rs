//! Rechecks: a pod that is refused on every node is checked again for a short time before that is answered.
//!
//! kube-scheduler asks as soon as it sees a change, and this replica may not have seen that change yet. Without a recheck,
//! kube-scheduler would put the pod aside until something else changes, which in a quiet cluster takes five minutes. It schedules
//! no other pod while it waits for us, so the total time of rechecks is limited.

use super::Question;
use super::passed_pods::PassedPods;
use common::cluster::Cluster;
use common::model::NodeName;
use std::collections::BTreeSet;
use std::time::Duration;

/// The longest time of one recheck. The configuration that we ship gives an extender one second.
pub(super) const RECHECK_MAX: Duration = Duration::from_millis(250);

/// The longest total time of rechecks one after the other.
const BUDGET_MAX: Duration = Duration::from_secs(2);

/// In the long run rechecks take at most one part in this many of the time.
const BUDGET_SHARE: u32 = 4;

/// How long kube-scheduler may be kept waiting.
#[derive(Default)]
pub(super) struct WaitBudget {
    used: Duration,
    /// The time as of which `used` is right.
    updated: Duration,
}

impl WaitBudget {
    /// Uses the time of one recheck, if that much is left.
    pub(super) fn take(&mut self, now: Duration) -> bool {
        self.used = self.used.saturating_sub(now.saturating_sub(self.updated) / BUDGET_SHARE);
        self.updated = now;
        let is_left = self.used + RECHECK_MAX <= BUDGET_MAX;
        if is_left {
            self.used += RECHECK_MAX;
        }
        is_left
    }

    pub(super) fn give_back(&mut self, unused: Duration) {
        self.used = self.used.saturating_sub(unused);
    }
}

/// The versions as of which a pod was refused on all of its nodes.
pub(super) struct Recheck {
    nodes: BTreeSet<NodeName>,
    ledgers: u64,
    /// [`PassedPods::removals`].
    removals: u64,
}

impl Recheck {
    pub(super) fn new(question: &Question, passed_pods: &PassedPods, cluster: &Cluster) -> Self {
        let nodes = match question {
            Question::Filter { nodes, .. } => nodes.iter().cloned().collect(),
            _ => BTreeSet::new(),
        };
        Self { nodes, ledgers: cluster.version(), removals: passed_pods.removals() }
    }

    /// Whether one of the nodes may have more room than at the previous call.
    pub(super) fn has_news(&mut self, passed_pods: &PassedPods, cluster: &Cluster) -> bool {
        let (ledgers, removals) = (self.ledgers, self.removals);
        (self.ledgers, self.removals) = (cluster.version(), passed_pods.removals());
        let is_asked = |id| cluster.ledger(id).is_none_or(|ledger| self.nodes.contains(&ledger.node.name));
        self.removals != removals || self.ledgers != ledgers && cluster.changed_since(ledgers).any(is_asked)
    }
}
