//! InterPodAffinity: pod affinity and anti-affinity, required (filter) and preferred (score), of the pod itself and of existing
//! pods towards it.

mod evidence;
mod existing_terms;
mod filter;
mod hint;
mod label_keys;
mod score;
mod term;
#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::config::InterPodAffinityArgs;
use crate::framework::{Evidence, Filter, NodeFilter, Plugin, PluginError, Reason, Scope, Score, Scorer};
use crate::model::{CatalogKind, ExtensionPoint};
use std::sync::Arc;

pub struct InterPodAffinity {
    args: InterPodAffinityArgs,
}

pub(super) fn descriptor() -> Descriptor {
    Descriptor::with_args(
        "InterPodAffinity",
        &[ExtensionPoint::PreFilter, ExtensionPoint::Filter, ExtensionPoint::PreScore, ExtensionPoint::Score],
        |args: InterPodAffinityArgs| {
            let plugin = Arc::new(InterPodAffinity { args });
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
    .watches(&[CatalogKind::Namespace])
}

impl Plugin for InterPodAffinity {
    fn name(&self) -> &'static str {
        "InterPodAffinity"
    }
}

impl Filter for InterPodAffinity {
    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        filter::prepare(self, context.pod, world)
    }

    fn evidence(
        &self,
        reason: Option<&Reason>,
        context: &PodContext<'_>,
        ledger: &Ledger,
        world: &Snapshot<'_>,
    ) -> Option<Evidence> {
        let unmet = || evidence::unmet_pod_affinity(context.pod, world, &ledger.node.labels);
        reason.map(|_| unmet()).filter(|unmet| !unmet.is_empty()).map(Evidence::PodAffinity)
    }
}

impl Score for InterPodAffinity {
    fn scope(&self, context: &PodContext<'_>, world: &Snapshot<'_>) -> Scope {
        if score::has_no_terms(context.pod, world, &self.args) { Scope::Node(0) } else { Scope::Cluster }
    }

    fn prepare<'c>(
        &'c self,
        context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError> {
        Ok(score::prepare(context.pod, world, &self.args))
    }
}
