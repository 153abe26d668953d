//! NodeAffinity: node selector and node affinity of the pod, required (filter) and preferred (score); and the affinity that the
//! configuration adds to every pod.

mod evidence;
#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{
    ActionType, ClusterChange, ClusterEvent, EventResource, Ledger, NodeId, PodContext, Snapshot,
};
use crate::config::NodeAffinityArgs;
use crate::framework::{
    Admission, BlockerClass, EnqueueExtensions, Evidence, Filter, NodeFilter, Normalise, Plugin, PluginError,
    PreFilter, QueueingHint, Reason, RefusalCode, RefusalKind, Rejection, Scope, Score, Scorer, StaticReason,
    Verdict, ledger_filter, ledger_scorer,
};
use crate::model::ExtensionPoint;
use crate::model::affinity::{
    NODE_NAME_FIELD, NodeAffinity, NodeSelector, NodeSelectorOperator, NodeSelectorRequirement,
    NodeSelectorTerm,
};
use crate::model::ids::NodeName;
use crate::model::{Labels, Node, Pod};
pub use evidence::unmet_requirements;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The plugin, with the affinity that the configuration adds to every pod.
#[derive(Clone, Debug, Default)]
pub struct NodeAffinityPlugin {
    added: NodeAffinity,
}

const NAME: &str = "NodeAffinity";
const CONFLICT: StaticReason = RefusalKind::unresolvable(RefusalCode::NodeAffinity, BlockerClass::Spec)
    .with_text("pod affinity terms conflict");
const NOT_ENFORCED: StaticReason =
    RefusalKind::unresolvable(RefusalCode::SchedulerAffinity, BlockerClass::Spec)
        .with_text("node(s) didn't match scheduler-enforced node affinity");
const NOT_MATCHED: StaticReason = RefusalKind::unresolvable(RefusalCode::NodeAffinity, BlockerClass::Spec)
    .with_text("node(s) didn't match Pod's node affinity/selector");

pub(super) fn descriptor() -> Descriptor {
    Descriptor::with_args(
        NAME,
        &[ExtensionPoint::PreFilter, ExtensionPoint::Filter, ExtensionPoint::PreScore, ExtensionPoint::Score],
        |args: NodeAffinityArgs| {
            let plugin = Arc::new(NodeAffinityPlugin { added: args.added_affinity.unwrap_or_default() });
            Implementations {
                pre_filter: Some(plugin.clone()),
                filter: Some(plugin.clone()),
                score: Some(plugin.clone()),
                enqueue_extensions: Some(plugin),
                ..Implementations::default()
            }
        },
    )
    .upstream()
    .by_default(2)
}

impl Plugin for NodeAffinityPlugin {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl PreFilter for NodeAffinityPlugin {
    fn pre_filter(&self, context: &PodContext<'_>, _world: &Snapshot<'_>) -> Admission {
        match required(context.pod).and_then(|selector| node_names(&selector.terms)) {
            None => Admission::All,
            Some(names) if names.is_empty() => Admission::Rejects(vec![Rejection::new(NAME, CONFLICT)]),
            Some(names) => Admission::Only(names),
        }
    }
}

impl Filter for NodeAffinityPlugin {
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        let added = self.added.required.as_ref();
        let (labels, required) = (context.pod.spec.node_selector.as_ref(), required(context.pod));
        if added.is_none() && labels.is_none() && required.is_none() {
            return None;
        }
        let reject = |reason| Verdict::RejectsStatic { plugin: NAME, reason };
        ledger_filter(world, move |ledger| match &*ledger.node {
            node if !is_selected(added, node) => reject(&NOT_ENFORCED),
            node if !has_all(labels, &node.labels) || !is_selected(required, node) => reject(&NOT_MATCHED),
            _ => Verdict::Fits,
        })
    }

    fn evidence(
        &self,
        reason: Option<&Reason>,
        context: &PodContext<'_>,
        ledger: &Ledger,
        _world: &Snapshot<'_>,
    ) -> Option<Evidence> {
        let unmet = unmet_requirements(context.pod, &ledger.node);
        reason.filter(|_| !unmet.is_empty()).map(|_| Evidence::Labels(unmet))
    }
}

impl Score for NodeAffinityPlugin {
    /// A malformed preferred term is an error, but only in Score: with a single feasible node Score does not run. So the pod must
    /// not be scored early, as plugins of `Scope::Node` are.
    fn scope(&self, context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        match preferred(context.pod) {
            Some(affinity) if affinity.has_malformed_preferred() => Scope::Cluster,
            _ => Scope::Node(0),
        }
    }

    fn prepare<'c>(
        &'c self,
        context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError> {
        let affinity = preferred(context.pod);
        if let Some(affinity) = affinity.filter(|affinity| affinity.has_malformed_preferred()) {
            return Err(affinity.preferred_problem().unwrap_or_default().into());
        }
        if affinity.is_none() && self.added.preferred.is_empty() {
            return Ok(None);
        }
        let score = move |node: &Node| {
            let both = [Some(&self.added), affinity].into_iter().flatten();
            both.map(|affinity| affinity.score(&node.labels, node.name.as_str())).sum()
        };
        Ok(Some(ledger_scorer(world, Normalise::ByHighest, move |ledger| score(&ledger.node))))
    }
}

impl EnqueueExtensions for NodeAffinityPlugin {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const { &[ClusterEvent::new(EventResource::Node, ActionType::ADD.or(ActionType::UPDATE_NODE_LABEL))] }
    }

    fn hint(&self, pod: &Pod, change: &ClusterChange, _world: &Snapshot<'_>) -> QueueingHint {
        let matches = |node: &Node| {
            is_selected(self.added.required.as_ref(), node)
                && has_all(pod.spec.node_selector.as_ref(), &node.labels)
                && is_selected(required(pod), node)
        };
        let (old, new) = change.nodes();
        QueueingHint::queue_if(new.is_none_or(matches) && !old.is_some_and(matches))
    }
}

fn required(pod: &Pod) -> Option<&NodeSelector> {
    pod.spec.affinity.as_ref()?.node.as_ref()?.required.as_ref()
}

/// The node affinity of the pod, if it has preferred terms.
fn preferred(pod: &Pod) -> Option<&NodeAffinity> {
    pod.spec.affinity.as_ref()?.node.as_ref().filter(|affinity| !affinity.preferred.is_empty())
}

/// The node names that the terms restrict the pod to; `None` if a term has no such restriction, or there are no terms.
fn node_names(terms: &[NodeSelectorTerm]) -> Option<BTreeSet<NodeName>> {
    let mut all = BTreeSet::new();
    for term in terms {
        all.extend(node_names_of_term(term)?);
    }
    (!terms.is_empty()).then_some(all)
}

/// The node names that all requirements of the term on `metadata.name` have in common; `None` if it has no such requirement.
fn node_names_of_term(term: &NodeSelectorTerm) -> Option<BTreeSet<NodeName>> {
    let restricts = |field: &&NodeSelectorRequirement| {
        &*field.key == NODE_NAME_FIELD && field.operator == NodeSelectorOperator::In
    };
    let sets = term.fields().iter().filter(restricts);
    let sets = sets.map(|field| field.values.iter().cloned().map(NodeName::from).collect::<BTreeSet<_>>());
    sets.reduce(|left, right| left.intersection(&right).cloned().collect())
}

fn is_selected(selector: Option<&NodeSelector>, node: &Node) -> bool {
    selector.is_none_or(|selector| selector.matches(&node.labels, node.name.as_str()))
}

fn has_all(wanted: Option<&Labels>, labels: &Labels) -> bool {
    wanted.is_none_or(|wanted| wanted.iter().all(|(key, value)| labels.get(key) == Some(value)))
}
