//! Second looks: before a pod is refused on every node, a moment is given to what may have changed.
//!
//! kube-scheduler asks as soon as it hears of a change, and that change may not have arrived here yet. Refused for good, the
//! pod would be put aside there until something else happens, which on a quiet cluster takes five minutes. kube-scheduler
//! decides on nobody else while it waits, so there is only so much patience to be asked for.

use super::Question;
use super::passed::Passed;
use common::cluster::Cluster;
use common::model::NodeName;
use std::collections::BTreeSet;
use std::time::Duration;

/// How long a look takes at most. The configuration that we ship gives an extender one second.
pub(super) const LOOK: Duration = Duration::from_millis(250);

/// All the time that may be taken at once: so many looks one after the other.
const PATIENCE: Duration = Duration::from_secs(2);

/// In the long run one part of this many is taken.
const SHARE: u32 = 4;

/// How much of the time of kube-scheduler was taken, and when that was reckoned last.
#[derive(Default)]
pub(super) struct Patience {
    taken: Duration,
    at: Duration,
}

impl Patience {
    /// Takes the time for a look, if there is enough left.
    pub(super) fn take(&mut self, now: Duration) -> bool {
        self.taken = self.taken.saturating_sub(now.saturating_sub(self.at) / SHARE);
        self.at = now;
        let is_left = self.taken + LOOK <= PATIENCE;
        if is_left {
            self.taken += LOOK;
        }
        is_left
    }

    /// A look took less time than it might have.
    pub(super) fn give_back(&mut self, unused: Duration) {
        self.taken = self.taken.saturating_sub(unused);
    }
}

/// What was known when a pod was last refused everywhere.
pub(super) struct Look {
    nodes: BTreeSet<NodeName>,
    books: u64,
    removals: u64,
}

impl Look {
    /// A look at the nodes of a question.
    pub(super) fn new(question: &Question, passed: &Passed, cluster: &Cluster) -> Self {
        let nodes = match question {
            Question::Filter { nodes, .. } => nodes.iter().cloned().collect(),
            _ => BTreeSet::new(),
        };
        Self { nodes, books: cluster.version(), removals: passed.removals() }
    }

    /// Whether one of its nodes may have more to give than when this was asked last.
    pub(super) fn has_news(&mut self, passed: &Passed, cluster: &Cluster) -> bool {
        let (books, removals) = (self.books, self.removals);
        (self.books, self.removals) = (cluster.version(), passed.removals());
        let is_asked = |id| cluster.ledger(id).is_none_or(|ledger| self.nodes.contains(&ledger.node.name));
        self.removals != removals || self.books != books && cluster.changed_since(books).any(is_asked)
    }
}
