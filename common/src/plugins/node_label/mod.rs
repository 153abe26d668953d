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
//! Without `requiredLabels` every node will do.

#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::cluster::{NodeId, PodContext, Snapshot};
use crate::config::{NodeLabelArgs, PluginArgs};
use crate::framework::{Cure, Filter, NodeFilter, Plugin, PreScore, Reason, Scope, Verdict, on_ledger};
use crate::model::Labels;
use std::sync::Arc;

/// The plugin.
pub struct NodeLabel {
    args: NodeLabelArgs,
}

/// The plugin at its extension points.
pub(super) fn kit(args: &PluginArgs) -> Kit {
    let plugin = Arc::new(NodeLabel { args: args.ours.node_label.clone() });
    Kit { filter: Some(plugin.clone()), pre_score: Some(plugin), ..Kit::default() }
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
        on_ledger(world, |ledger| {
            let missing = missing(&self.args, &ledger.node.labels);
            if missing.is_empty() {
                return Verdict::Fits;
            }
            let words = format!("node(s) didn't have the required label(s) {}", missing.join(", "));
            Verdict::rejects(self.name(), Reason::said_for_good(words, Cure::Node))
        })
    }
}

/// It has nothing to work out before scores; the point is there so that files which name it can be followed.
impl PreScore for NodeLabel {
    fn pre_score(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>, _feasible: &[NodeId]) {}
}

/// The labels that are required and not there, as they would be written.
fn missing(args: &NodeLabelArgs, labels: &Labels) -> Vec<String> {
    let is_missing = |(key, value): &(&String, &String)| {
        labels.get(key).is_none_or(|found| !value.is_empty() && found != value.as_str())
    };
    let written = |(key, value): (&String, &String)| match value.as_str() {
        "" => key.clone(),
        value => format!("{key}={value}"),
    };
    args.required_labels.iter().filter(is_missing).map(written).collect()
}
