//! Which of the nodes that can have the pod is best.

use super::{Plugin, Scope};
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};

/// The score of the best node, after normalising.
pub const SCORE_MAX: i64 = 100;

/// How well nodes would suit the pod.
pub enum NodeScore<'c> {
    /// Asked node by node.
    Each(Box<dyn Fn(NodeId) -> i64 + 'c>),
    /// Worked out at once for all the feasible nodes, in their order. Not for a plugin whose scope is
    /// [`Scope::Node`], which does not know them.
    All(Vec<i64>),
}

/// Changes the scores of these nodes in place.
pub type Rescale<'c> = Box<dyn Fn(&[NodeId], &mut [i64]) + 'c>;

/// Told which nodes are about to be scored.
pub trait PreScore: Plugin {
    /// The nodes that can have the pod, in node order.
    fn pre_score(&self, pod_context: &PodContext<'_>, world: &Snapshot<'_>, feasible: &[NodeId]);
}

/// Orders the nodes that no filter rejected.
pub trait Score: Plugin {
    /// What the raw scores for this pod follow from.
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Cluster
    }

    /// Nodes whose scores follow from more than the scope says.
    fn exceptions(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Vec<NodeId> {
        Vec::new()
    }

    /// Called once for each pod that fits more than one node; `feasible` are those, in node order. A plugin whose
    /// scope is [`Scope::Node`] must not look at them. `None` if it has no opinion on any of them.
    ///
    /// # Errors
    /// When something is wrong, in which case the pod is not placed.
    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, String>;
}

/// How one plugin scores nodes for one pod.
pub struct Scorer<'c> {
    /// As the plugin counts.
    pub score: NodeScore<'c>,
    /// How that becomes 0 to [`SCORE_MAX`], best highest.
    pub normalise: Normalise<'c>,
}

/// How the scores of all feasible nodes become 0 to [`SCORE_MAX`].
pub enum Normalise<'c> {
    /// They are so already.
    Already,
    /// As shares of the highest one, which becomes [`SCORE_MAX`]. If all are 0 they stay so.
    ByHighest,
    /// The same upside down: the highest becomes 0. If all are 0 they become [`SCORE_MAX`].
    ByHighestReversed,
    /// In a way of its own: the scores of these nodes are changed in place.
    With(Rescale<'c>),
}

/// The scorer that reads its score off the books of the node.
pub fn score_ledger<'c>(
    world: &'c Snapshot<'c>,
    normalise: Normalise<'c>,
    score: impl Fn(&Ledger) -> i64 + 'c,
) -> Scorer<'c> {
    let each = move |id| world.ledger(id).map_or(0, &score);
    Scorer { score: NodeScore::Each(Box::new(each)), normalise }
}

impl NodeScore<'_> {
    /// The score of one node, where nodes are asked one by one.
    pub fn of(&self, node: NodeId) -> i64 {
        match self {
            Self::Each(score) => score(node),
            Self::All(_) => 0,
        }
    }

    /// The scores of the feasible nodes.
    pub fn all(&self, feasible: &[NodeId]) -> Vec<i64> {
        match self {
            Self::Each(score) => feasible.iter().map(|id| score(*id)).collect(),
            Self::All(scores) => scores.clone(),
        }
    }
}

impl Normalise<'_> {
    /// Normalises the scores of `nodes`.
    pub fn apply(&self, nodes: &[NodeId], scores: &mut [i64]) {
        let highest = scores.iter().copied().max().unwrap_or(0);
        match self {
            Self::Already => {}
            Self::With(change) => change(nodes, scores),
            Self::ByHighest | Self::ByHighestReversed => {
                scores.iter_mut().for_each(|score| *score = self.share(*score, highest));
            }
        }
    }

    /// A single score when the highest is known; itself where more than that matters.
    pub fn share(&self, score: i64, highest: i64) -> i64 {
        match self {
            Self::Already | Self::With(_) => score,
            Self::ByHighest if highest == 0 => score,
            Self::ByHighestReversed if highest == 0 => SCORE_MAX,
            Self::ByHighest => SCORE_MAX * score / highest,
            Self::ByHighestReversed => SCORE_MAX - SCORE_MAX * score / highest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Normalise;

    #[test]
    fn scores_are_shares_of_the_highest() {
        let normalised = |normalise: Normalise<'_>, mut scores: Vec<i64>| {
            normalise.apply(&[], &mut scores);
            scores
        };
        let reversed = |scores| normalised(Normalise::ByHighestReversed, scores);
        assert_eq!(reversed(vec![]), [0; 0]);
        assert_eq!(reversed(vec![0, 0]), [100, 100]);
        assert_eq!(reversed(vec![2, 2]), [0, 0]);
        assert_eq!(reversed(vec![1, 2, 3, 0]), [67, 34, 0, 100]);
        let forward = |scores| normalised(Normalise::ByHighest, scores);
        assert_eq!(forward(vec![0, 0]), [0, 0]);
        assert_eq!(forward(vec![1, 2, 3, 0]), [33, 66, 100, 0]);
        assert_eq!(normalised(Normalise::Already, vec![7]), [7]);
        assert_eq!(normalised(Normalise::With(Box::new(|_, scores| scores.fill(1))), vec![7]), [1]);
    }
}
