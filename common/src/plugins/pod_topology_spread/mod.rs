//! PodTopologySpread: spreads matching pods evenly over the domains of a topology key, such as nodes or zones.

mod constraint;
mod evidence;
mod filter;
mod hint;
mod matching_pods;
mod score;
mod selector;
#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::config::PodTopologySpreadArgs;
use crate::framework::{Evidence, Filter, NodeFilter, Plugin, PluginError, Reason, Scope, Score, Scorer};
use crate::model::ids::Text;
use crate::model::{CatalogKind, ExtensionPoint};
use constraint::{Constraint, DefaultConstraints, WhenUnsatisfiable};
use std::sync::Arc;

pub struct PodTopologySpread {
    defaults: DefaultConstraints,
}

pub(super) fn descriptor() -> Descriptor {
    Descriptor::with_args(
        "PodTopologySpread",
        &[ExtensionPoint::PreFilter, ExtensionPoint::Filter, ExtensionPoint::PreScore, ExtensionPoint::Score],
        |args: PodTopologySpreadArgs| {
            let plugin = Arc::new(PodTopologySpread { defaults: DefaultConstraints::new(&args) });
            Implementations {
                filter: Some(plugin.clone()),
                score: Some(plugin.clone()),
                enqueue_extensions: Some(plugin),
                ..Implementations::default()
            }
        },
    )
    .upstream()
    .by_default(2)
    .watches(&[CatalogKind::Service])
}

impl Plugin for PodTopologySpread {
    fn name(&self) -> &'static str {
        "PodTopologySpread"
    }
}

impl Filter for PodTopologySpread {
    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        let constraints = self.defaults.constraints(context, world, WhenUnsatisfiable::DoNotSchedule);
        filter::prepare(self, context.pod, world, &constraints)
    }

    fn evidence(
        &self,
        _reason: Option<&Reason>,
        context: &PodContext<'_>,
        ledger: &Ledger,
        world: &Snapshot<'_>,
    ) -> Option<Evidence> {
        let constraints = self.defaults.constraints(context, world, WhenUnsatisfiable::DoNotSchedule);
        Some(Evidence::Spread(evidence::spread_status(&constraints, context, world, ledger.id)))
    }
}

impl Score for PodTopologySpread {
    fn scope(&self, context: &PodContext<'_>, world: &Snapshot<'_>) -> Scope {
        // A pod without such constraints is not scored.
        match self.defaults.constraints(context, world, WhenUnsatisfiable::ScheduleAnyway).is_empty() {
            true => Scope::Node(0),
            false => Scope::Cluster,
        }
    }

    fn prepare<'c>(
        &'c self,
        context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError> {
        let constraints = self.defaults.constraints(context, world, WhenUnsatisfiable::ScheduleAnyway);
        let requires_all = self.defaults.requires_all(context.pod);
        Ok(score::prepare(context.pod, world, &constraints, requires_all, feasible))
    }
}

/// The topology keys of all constraints, each once.
fn keys(constraints: &[Constraint]) -> Box<[Text]> {
    let mut keys: Vec<Text> = constraints.iter().map(|constraint| constraint.key.clone()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into()
}
