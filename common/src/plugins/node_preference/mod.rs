//! NodePreference: scores nodes by name or by label.
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
//! A node that is named gets the score of its name; otherwise the highest score of the labels that match counts; otherwise 0.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{NodeId, PodContext, Snapshot};
use crate::config::NodePreferenceArgs;
use crate::framework::{Normalise, Plugin, PluginError, Scope, Score, Scorer, ledger_scorer};
use crate::model::{ExtensionPoint, Node};
use std::sync::Arc;

pub struct NodePreference {
    args: NodePreferenceArgs,
}

pub(super) fn descriptor() -> Descriptor {
    Descriptor::with_args("NodePreference", &[ExtensionPoint::Score], |args: NodePreferenceArgs| {
        let plugin = Arc::new(NodePreference { args });
        Implementations { score: Some(plugin), ..Implementations::default() }
    })
}

impl Plugin for NodePreference {
    fn name(&self) -> &'static str {
        "NodePreference"
    }
}

impl Score for NodePreference {
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(
        &'c self,
        _context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError> {
        if self.args == NodePreferenceArgs::default() {
            return Ok(None);
        }
        Ok(Some(ledger_scorer(world, Normalise::NotNeeded, |ledger| score(&self.args, &ledger.node))))
    }
}

fn score(args: &NodePreferenceArgs, node: &Node) -> i64 {
    let by_label = || {
        let matching = args.labels.iter().filter(|(pattern, _)| pattern.matches(&node.labels));
        matching.map(|(_, score)| *score).max().unwrap_or(0)
    };
    args.nodes.get(node.name.as_str()).copied().unwrap_or_else(by_label)
}
