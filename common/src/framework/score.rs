//! The extension points that order the feasible nodes: PreScore and Score, with the normalisation of scores.

use super::{Plugin, PluginError, Scope};
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};

/// The score of the best node, after normalising.
pub const SCORE_MAX: i64 = 100;

/// The raw scores of nodes for one pod.
pub enum NodeScore<'c> {
    /// A function that scores one node at a time.
    Each(Box<dyn Fn(NodeId) -> i64 + 'c>),
    /// The scores of all feasible nodes, in their order. Not for a plugin whose scope is [`Scope::Node`]: it must not look at the
    /// feasible nodes.
    All(Vec<i64>),
}

/// Normalises the scores of these nodes in place.
pub type Rescale<'c> = Box<dyn Fn(&[NodeId], &mut [i64]) + 'c>;

/// Called before the feasible nodes are scored.
pub trait PreScore: Plugin {
    /// `feasible`: the nodes that fit the pod, in node order.
    fn pre_score(&self, context: &PodContext<'_>, world: &Snapshot<'_>, feasible: &[NodeId]);
}

/// Scores the nodes that no filter rejected.
pub trait Score: Plugin {
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Cluster
    }

    /// Nodes whose scores depend on more than the scope says.
    fn exceptions(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Vec<NodeId> {
        Vec::new()
    }

    /// Called once for each pod that fits more than one node; `feasible` are these nodes, in node order. A plugin whose scope is
    /// [`Scope::Node`] must not look at them. `None`: this plugin does not score the pod.
    ///
    /// # Errors
    /// When the plugin fails; the pod is then not placed.
    fn prepare<'c>(
        &'c self,
        context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError>;
}

/// How one plugin scores nodes for one pod.
pub struct Scorer<'c> {
    pub score: NodeScore<'c>,
    /// How the raw scores become 0 to [`SCORE_MAX`]; the best node has the highest.
    pub normalise: Normalise<'c>,
}

/// How the raw scores of all feasible nodes become 0 to [`SCORE_MAX`].
pub enum Normalise<'c> {
    /// The raw scores are from 0 to [`SCORE_MAX`] already.
    NotNeeded,
    /// In proportion to the highest score, which becomes [`SCORE_MAX`]. If all are 0, they stay 0.
    ByHighest,
    /// In proportion and reversed: the highest score becomes 0. If all are 0, they become [`SCORE_MAX`].
    ByHighestReversed,
    /// By a function of the plugin.
    Custom(Rescale<'c>),
}

pub fn ledger_scorer<'c>(
    world: &'c Snapshot<'c>,
    normalise: Normalise<'c>,
    score: impl Fn(&Ledger) -> i64 + 'c,
) -> Scorer<'c> {
    let each = move |id| world.ledger(id).map_or(0, &score);
    Scorer { score: NodeScore::Each(Box::new(each)), normalise }
}

impl NodeScore<'_> {
    /// The score of one node; 0 if the scores were computed for all feasible nodes at once.
    pub fn of(&self, node: NodeId) -> i64 {
        match self {
            Self::Each(score) => score(node),
            Self::All(_) => 0,
        }
    }

    pub fn all(&self, feasible: &[NodeId]) -> Vec<i64> {
        match self {
            Self::Each(score) => feasible.iter().map(|id| score(*id)).collect(),
            Self::All(scores) => scores.clone(),
        }
    }
}

impl Normalise<'_> {
    pub fn apply(&self, nodes: &[NodeId], scores: &mut [i64]) {
        let highest = scores.iter().copied().max().unwrap_or(0);
        match self {
            Self::NotNeeded => {}
            Self::Custom(change) => change(nodes, scores),
            Self::ByHighest | Self::ByHighestReversed => {
                scores.iter_mut().for_each(|score| *score = self.share(*score, highest));
            }
        }
    }

    /// One normalised score, given the highest raw score. `NotNeeded` and `Custom` return the score unchanged.
    pub fn share(&self, score: i64, highest: i64) -> i64 {
        match self {
            Self::NotNeeded | Self::Custom(_) => score,
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
        assert_eq!(normalised(Normalise::NotNeeded, vec![7]), [7]);
        assert_eq!(normalised(Normalise::Custom(Box::new(|_, scores| scores.fill(1))), vec![7]), [1]);
    }
}
