//! TaintToleration: rejects nodes with untolerated taints (filter), and scores nodes lower for untolerated `PreferNoSchedule`
//! taints.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{NodeId, PodContext, Snapshot};
use crate::framework::{
    Filter, NodeFilter, Normalise, Plugin, Reason, Scope, Score, Scorer, Verdict, ledger_filter,
    ledger_scorer,
};
use crate::model::ExtensionPoint;
use crate::model::taint::{Taint, TaintEffect, Toleration};
use std::sync::Arc;

/// The plugin.
pub struct TaintToleration;

/// The plugin in the list of all plugins.
pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in(
        "TaintToleration",
        &[ExtensionPoint::PreFilter, ExtensionPoint::Filter, ExtensionPoint::PreScore, ExtensionPoint::Score],
        || {
            let plugin = Arc::new(TaintToleration);
            Implementations {
                filter: Some(plugin.clone()),
                score: Some(plugin),
                ..Implementations::default()
            }
        },
    )
    .upstream()
    .by_default(3)
}

impl Plugin for TaintToleration {
    fn name(&self) -> &'static str {
        "TaintToleration"
    }
}

impl Filter for TaintToleration {
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        ledger_filter(world, |ledger| {
            match untolerated(&ledger.node.taints, &pod_context.pod.spec.tolerations) {
                Some(taint) => Verdict::rejects(self.name(), Reason::Taint(taint.clone())),
                None => Verdict::Fits,
            }
        })
    }
}

impl Score for TaintToleration {
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    /// The fewer untolerated `PreferNoSchedule` taints, the higher the score.
    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, String> {
        let tolerations = &pod_context.pod.spec.tolerations;
        let score = ledger_scorer(world, Normalise::ByHighestReversed, |ledger| {
            count_untolerated_soft_taints(&ledger.node.taints, tolerations)
        });
        Ok(Some(score))
    }
}

/// The first taint with `NoSchedule` or `NoExecute` that the pod does not tolerate.
fn untolerated<'t>(taints: &'t [Taint], tolerations: &[Toleration]) -> Option<&'t Taint> {
    taints
        .iter()
        .filter(|taint| taint.effect.repels())
        .find(|taint| !tolerations.iter().any(|toleration| toleration.tolerates(taint)))
}

/// The number of `PreferNoSchedule` taints that the pod does not tolerate.
fn count_untolerated_soft_taints(taints: &[Taint], tolerations: &[Toleration]) -> i64 {
    let applies = |toleration: &&Toleration| {
        toleration.effect.is_none_or(|effect| effect == TaintEffect::PreferNoSchedule)
    };
    let tolerated =
        |taint: &Taint| tolerations.iter().filter(applies).any(|toleration| toleration.tolerates(taint));
    let soft = taints.iter().filter(|taint| taint.effect == TaintEffect::PreferNoSchedule);
    i64::try_from(soft.filter(|taint| !tolerated(taint)).count()).unwrap_or(i64::MAX)
}
