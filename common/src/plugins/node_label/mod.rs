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
use crate::cluster::{NodeId, PodContext, Snapshot};
use crate::config::NodeLabelArgs;
use crate::framework::{
    BlockerClass, Cure, Filter, NodeFilter, Plugin, PreScore, RefusalCode, RefusalKind, Scope, Verdict,
    ledger_filter,
};
use crate::model::ExtensionPoint;
use crate::model::Labels;
use std::sync::Arc;

const MISSING: RefusalKind =
    RefusalKind::unresolvable(RefusalCode::NodeLabel, BlockerClass::Spec, Cure::Node);

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
                pre_score: Some(plugin),
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
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(
        &'c self,
        _pod_context: &'c PodContext<'c>,
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
    fn pre_score(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>, _feasible: &[NodeId]) {}
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
