//! TaintToleration: rejects nodes with untolerated taints (filter), and scores nodes lower for untolerated `PreferNoSchedule`
//! taints.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{
    ActionType, ClusterChange, ClusterEvent, EventResource, Ledger, NodeId, PodContext, Snapshot,
};
use crate::framework::{
    EnqueueExtensions, Evidence, Filter, NodeFilter, Normalise, Plugin, PluginError, QueueingHint, Reason,
    Scope, Score, Scorer, Verdict, ledger_filter, ledger_scorer,
};
use crate::model::ExtensionPoint;
use crate::model::taint::{Taint, TaintEffect, Toleration};
use crate::model::{Node, Pod};
use std::sync::Arc;

pub struct TaintToleration;

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in(
        "TaintToleration",
        &[ExtensionPoint::PreFilter, ExtensionPoint::Filter, ExtensionPoint::PreScore, ExtensionPoint::Score],
        || {
            let plugin = Arc::new(TaintToleration);
            Implementations {
                filter: Some(plugin.clone()),
                score: Some(plugin.clone()),
                enqueue_extensions: Some(plugin),
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
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        ledger_filter(world, |ledger| match untolerated_taints(context.pod, &ledger.node).next() {
            Some(taint) => Verdict::rejects(self.name(), Reason::Taint(taint.clone())),
            None => Verdict::Fits,
        })
    }

    fn evidence(
        &self,
        reason: Option<&Reason>,
        context: &PodContext<'_>,
        ledger: &Ledger,
        _world: &Snapshot<'_>,
    ) -> Option<Evidence> {
        let taints: Vec<Taint> = untolerated_taints(context.pod, &ledger.node).cloned().collect();
        reason.map(|_| Evidence::Taints(taints))
    }
}

impl Score for TaintToleration {
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    /// The fewer untolerated `PreferNoSchedule` taints, the higher the score.
    fn prepare<'c>(
        &'c self,
        context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError> {
        let tolerations = &context.pod.spec.tolerations;
        let score = ledger_scorer(world, Normalise::ByHighestReversed, |ledger| {
            count_untolerated_soft_taints(&ledger.node.taints, tolerations)
        });
        Ok(Some(score))
    }
}

impl EnqueueExtensions for TaintToleration {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const {
            &[
                ClusterEvent::new(EventResource::Node, ActionType::ADD.or(ActionType::UPDATE_NODE_TAINT)),
                ClusterEvent::new(EventResource::TargetPod, ActionType::UPDATE_POD_TOLERATION),
            ]
        }
    }

    fn hint(&self, pod: &Pod, change: &ClusterChange, _world: &Snapshot<'_>) -> QueueingHint {
        let is_tolerated = |node: &Node| untolerated_taints(pod, node).next().is_none();
        let (old, new) = change.nodes();
        QueueingHint::queue_if(old.is_none_or(|old| !is_tolerated(old)) && new.is_none_or(is_tolerated))
    }
}

/// The taints of the node with `NoSchedule` or `NoExecute` that the pod does not tolerate.
pub fn untolerated_taints<'t>(pod: &'t Pod, node: &'t Node) -> impl Iterator<Item = &'t Taint> {
    let tolerations = &pod.spec.tolerations;
    let is_tolerated = |taint: &Taint| tolerations.iter().any(|toleration| toleration.tolerates(taint));
    node.taints.iter().filter(move |taint| taint.effect.repels() && !is_tolerated(taint))
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
