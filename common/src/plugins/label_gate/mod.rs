//! LabelGate: rejects pods with a label, and nodes with a label.
//!
//! ```yaml
//! plugins:
//!   multiPoint: {enabled: [{name: LabelGate}]}
//! pluginConfig:
//! - name: LabelGate
//!   args:
//!     podLabel: "example.com/hold"        # pods with the label are not placed
//!     nodeLabel: "schedule=never"         # nodes with the label get none of this scheduler's pods
//! ```
//!
//! Both are written as for `kubectl -l`: `key`, `!key`, `key=value`, `key!=value`; so `podLabel: "!team"` rejects pods without the
//! label `team`. Without an argument nothing is rejected.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource, PodContext, Snapshot};
use crate::config::{LabelGateArgs, LabelPattern};
use crate::framework::{
    Admission, BlockerClass, EnqueueExtensions, Filter, NodeFilter, Plugin, PreFilter, QueueingHint,
    RefusalCode, RefusalKind, Rejection, Scope, Verdict, ledger_filter,
};
use crate::model::{ExtensionPoint, Labels, Node, Pod};
use std::sync::Arc;

const POD_KEPT_OUT: RefusalKind = RefusalKind::unresolvable(RefusalCode::LabelGate, BlockerClass::Spec);
const NODE_KEPT_OUT: RefusalKind = RefusalKind::unresolvable(RefusalCode::LabelGate, BlockerClass::Spec);

pub struct LabelGate {
    args: LabelGateArgs,
}

pub(super) fn descriptor() -> Descriptor {
    Descriptor::with_args(
        "LabelGate",
        &[ExtensionPoint::PreFilter, ExtensionPoint::Filter],
        |args: LabelGateArgs| {
            let plugin = Arc::new(LabelGate { args });
            Implementations {
                pre_filter: Some(plugin.clone()),
                filter: Some(plugin.clone()),
                enqueue_extensions: Some(plugin),
                ..Implementations::default()
            }
        },
    )
}

impl Plugin for LabelGate {
    fn name(&self) -> &'static str {
        "LabelGate"
    }
}

impl PreFilter for LabelGate {
    fn pre_filter(&self, context: &PodContext<'_>, _world: &Snapshot<'_>) -> Admission {
        match &self.args.pod_label {
            Some(gate) if gate.matches(&context.pod.labels) => {
                let reason = POD_KEPT_OUT.with(format!("pods with {gate} are kept out"));
                Admission::Rejects(vec![Rejection::new(self.name(), reason)])
            }
            _ => Admission::All,
        }
    }
}

impl Filter for LabelGate {
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(
        &'c self,
        _context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        let gate = self.args.node_label.as_ref()?;
        ledger_filter(world, move |ledger| {
            if !gate.matches(&ledger.node.labels) {
                return Verdict::Fits;
            }
            Verdict::rejects(self.name(), NODE_KEPT_OUT.with(format!("node(s) with {gate} are kept out")))
        })
    }
}

impl EnqueueExtensions for LabelGate {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const {
            &[
                ClusterEvent::new(EventResource::Node, ActionType::ADD.or(ActionType::UPDATE_NODE_LABEL)),
                ClusterEvent::new(EventResource::TargetPod, ActionType::UPDATE_POD_LABEL),
            ]
        }
    }

    fn hint(&self, pod: &Pod, change: &ClusterChange, _world: &Snapshot<'_>) -> QueueingHint {
        let is_shut = |gate: &Option<LabelPattern>, labels: &Labels| {
            gate.as_ref().is_some_and(|gate| gate.matches(labels))
        };
        QueueingHint::queue_if(match change.nodes() {
            (None, None) => !is_shut(&self.args.pod_label, &pod.labels),
            (old, new) => {
                let is_open = |node: &Node| !is_shut(&self.args.node_label, &node.labels);
                new.is_none_or(is_open) && !old.is_some_and(is_open)
            }
        })
    }
}
