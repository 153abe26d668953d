//! NodePreference: some nodes are liked better than others, by name or by label.
//!
//! ```yaml
//! plugins:
//!   score: {enabled: [{name: NodePreference, weight: 5}]}
//! pluginConfig:
//! - name: NodePreference
//!   args:
//!     nodes: {worker-1: 100}          # from 0 to 100
//!     labels:
//!       disk=ssd: 80                  # this value
//!       example.com/gpu: 10           # any value
//!       "!example.com/spot": 50       # without the label
//! ```
//!
//! A node that is named has that score; of the labels that match the highest counts; everything else has 0.

#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::cluster::{NodeId, PodContext, Snapshot};
use crate::config::{NodePreferenceArgs, PluginArgs};
use crate::framework::{Normalise, Plugin, Scope, Score, Scorer, score_ledger};
use crate::model::Node;
use std::sync::Arc;

/// The plugin.
pub struct NodePreference {
    args: NodePreferenceArgs,
}

/// The plugin at its extension points.
pub(super) fn kit(args: &PluginArgs) -> Kit {
    let plugin = Arc::new(NodePreference { args: args.ours.node_preference.clone() });
    Kit { score: Some(plugin), ..Kit::default() }
}

impl Plugin for NodePreference {
    fn name(&self) -> &'static str {
        "NodePreference"
    }
}

impl Score for NodePreference {
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(
        &'c self,
        _pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, String> {
        if self.args == NodePreferenceArgs::default() {
            return Ok(None);
        }
        Ok(Some(score_ledger(world, Normalise::Already, |ledger| score(&self.args, &ledger.node))))
    }
}

/// How well the node is liked.
fn score(args: &NodePreferenceArgs, node: &Node) -> i64 {
    let by_label = || {
        let matching = args.labels.iter().filter(|(pattern, _)| pattern.matches(&node.labels));
        matching.map(|(_, score)| *score).max().unwrap_or(0)
    };
    args.nodes.get(node.name.as_str()).copied().unwrap_or_else(by_label)
}
