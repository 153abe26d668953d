//! PodTopologySpread: pods of a kind are spread evenly over nodes, zones, or whatever a node label tells apart.

mod constraint;
mod evidence;
mod filter;
mod question;
mod score;
mod selector;
#[cfg(test)]
mod tests;

pub use evidence::{Spreading, spreading};

use super::kit::Kit;
use crate::cluster::{NodeId, PodContext, Snapshot};
use crate::config::PluginArgs;
use crate::framework::{Filter, NodeFilter, Plugin, Scope, Score, Scorer};
use crate::model::ids::Text;
use constraint::{Action, Constraint, Defaults};
use std::sync::Arc;

/// The plugin.
pub struct PodTopologySpread {
    defaults: Defaults,
}

/// The plugin at its extension points.
pub(super) fn kit(args: &PluginArgs) -> Kit {
    let plugin = Arc::new(PodTopologySpread { defaults: Defaults::new(&args.pod_topology_spread) });
    Kit { filter: Some(plugin.clone()), score: Some(plugin), ..Kit::default() }
}

impl Plugin for PodTopologySpread {
    fn name(&self) -> &'static str {
        "PodTopologySpread"
    }
}

impl Filter for PodTopologySpread {
    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        let constraints = self.defaults.constraints(pod_context, world, Action::Refuse);
        filter::prepare(self, pod_context.pod, world, &constraints)
    }
}

impl Score for PodTopologySpread {
    fn scope(&self, pod_context: &PodContext<'_>, world: &Snapshot<'_>) -> Scope {
        // It has no opinion on pods that nothing spreads.
        match self.defaults.constraints(pod_context, world, Action::Discourage).is_empty() {
            true => Scope::Node(0),
            false => Scope::Cluster,
        }
    }

    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, String> {
        let constraints = self.defaults.constraints(pod_context, world, Action::Discourage);
        let requires_all = self.defaults.requires_all(pod_context.pod);
        Ok(score::prepare(pod_context.pod, world, &constraints, requires_all, feasible))
    }
}

/// The labels of all constraints, each once.
fn keys(constraints: &[Constraint]) -> Box<[Text]> {
    let mut keys: Vec<Text> = constraints.iter().map(|constraint| constraint.key.clone()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into()
}
