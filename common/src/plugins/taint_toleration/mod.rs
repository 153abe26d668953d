//! TaintToleration: taints keep pods off a node, or make it less welcome, unless they tolerate them.

#[cfg(test)]
mod tests;

use crate::cluster::{Asker, Snapshot};
use crate::framework::{Cure, Filter, NodeFilter, NodeScore, Reason, Rejection, SCORE_MAX, Score, Verdict};
use crate::model::taint::{Effect, Taint, Toleration};

/// The plugin.
pub struct TaintToleration;

const NAME: &str = "TaintToleration";

impl Filter for TaintToleration {
    fn name(&self) -> &'static str {
        NAME
    }

    fn prepare<'c>(&'c self, asker: &'c Asker<'c>, _world: &'c Snapshot<'c>) -> NodeFilter<'c> {
        Box::new(|ledger| match untolerated(&ledger.node.taints, &asker.pod.spec.tolerations) {
            Some(taint) => Verdict::Rejects(vec![Rejection {
                plugin: NAME,
                reason: Reason::Taint(taint.clone()),
                cure: Cure::Node,
            }]),
            None => Verdict::Fits,
        })
    }
}

impl Score for TaintToleration {
    fn name(&self) -> &'static str {
        NAME
    }

    fn prepare<'c>(&'c self, asker: &'c Asker<'c>, _world: &'c Snapshot<'c>) -> NodeScore<'c> {
        Box::new(|ledger| unwelcome(&ledger.node.taints, &asker.pod.spec.tolerations))
    }

    /// The fewer such taints the better: none is best, and if none has any, all are.
    fn normalise(&self, scores: &mut [i64]) {
        let most = scores.iter().copied().max().unwrap_or(0);
        for score in scores {
            *score = if most == 0 { SCORE_MAX } else { SCORE_MAX - SCORE_MAX * *score / most };
        }
    }
}

/// The first taint that keeps the pod off the node.
fn untolerated<'t>(taints: &'t [Taint], tolerations: &[Toleration]) -> Option<&'t Taint> {
    taints
        .iter()
        .filter(|taint| taint.effect.repels())
        .find(|taint| !tolerations.iter().any(|toleration| toleration.tolerates(taint)))
}

/// How many taints ask the pod to rather stay away.
fn unwelcome(taints: &[Taint], tolerations: &[Toleration]) -> i64 {
    let applies =
        |toleration: &&Toleration| toleration.effect.is_none_or(|effect| effect == Effect::PreferNoSchedule);
    let tolerated =
        |taint: &Taint| tolerations.iter().filter(applies).any(|toleration| toleration.tolerates(taint));
    let soft = taints.iter().filter(|taint| taint.effect == Effect::PreferNoSchedule);
    i64::try_from(soft.filter(|taint| !tolerated(taint)).count()).unwrap_or(i64::MAX)
}
