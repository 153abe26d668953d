//! NodeLabel: nodes must carry certain labels.
//!
//! ```yaml
//! plugins:
//!   filter: {enabled: [{name: NodeLabel}]}
//! pluginConfig:
//! - name: NodeLabel
//!   args:
//!     requiredLabels:
//!       cpu: "true"     # this value
//!       example.com/ssd: ""   # any value
//! ```
//!
//! Without `requiredLabels` no node is rejected.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource, NodeId, PodContext, Snapshot};
use crate::config::NodeLabelArgs;
use crate::framework::{
    BlockerClass, EnqueueExtensions, Filter, NodeFilter, Plugin, PreScore, QueueingHint, RefusalCode,
    RefusalKind, Scope, Verdict, ledger_filter,
};
use crate::model::{ExtensionPoint, Labels, Node, Pod};
use std::sync::Arc;

const MISSING: RefusalKind = RefusalKind::unresolvable(RefusalCode::NodeLabel, BlockerClass::Spec);

pub struct NodeLabel {
    args: NodeLabelArgs,
}

pub(super) fn descriptor() -> Descriptor {
    Descriptor::with_args(
        "NodeLabel",
        &[ExtensionPoint::Filter, ExtensionPoint::PreScore],
        |args: NodeLabelArgs| {
            let plugin = Arc::new(NodeLabel { args });
            Implementations {
                filter: Some(plugin.clone()),
                pre_score: Some(plugin.clone()),
                enqueue_extensions: Some(plugin),
                ..Implementations::default()
            }
        },
    )
}

impl Plugin for NodeLabel {
    fn name(&self) -> &'static str {
        "NodeLabel"
    }
}

impl Filter for NodeLabel {
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(
        &'c self,
        _context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        if self.args.required_labels.is_empty() {
            return None;
        }
        ledger_filter(world, |ledger| {
            let missing = missing(&self.args, &ledger.node.labels);
            if missing.is_empty() {
                return Verdict::Fits;
            }
            let message = format!("node(s) didn't have the required label(s) {}", missing.join(", "));
            Verdict::rejects(self.name(), MISSING.with(message))
        })
    }
}

/// Does nothing. The extension point exists so that configuration files which name it are accepted.
impl PreScore for NodeLabel {
    fn pre_score(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>, _feasible: &[NodeId]) {}
}

impl EnqueueExtensions for NodeLabel {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const { &[ClusterEvent::new(EventResource::Node, ActionType::ADD.or(ActionType::UPDATE_NODE_LABEL))] }
    }

    fn hint(&self, _pod: &Pod, change: &ClusterChange, _world: &Snapshot<'_>) -> QueueingHint {
        let has_all = |node: &Node| missing(&self.args, &node.labels).is_empty();
        let (old, new) = change.nodes();
        QueueingHint::queue_if(new.is_none_or(has_all) && !old.is_some_and(has_all))
    }
}

/// The required labels that are missing, as `key` or `key=value`.
fn missing(args: &NodeLabelArgs, labels: &Labels) -> Vec<String> {
    let is_missing = |(key, value): &(&String, &String)| {
        labels.get(key).is_none_or(|found| !value.is_empty() && found != value.as_str())
    };
    let text = |(key, value): (&String, &String)| match value.as_str() {
        "" => key.clone(),
        value => format!("{key}={value}"),
    };
    args.required_labels.iter().filter(is_missing).map(text).collect()
}
