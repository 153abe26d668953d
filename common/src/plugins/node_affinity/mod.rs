//! NodeAffinity: a pod says by labels and names which nodes it needs and which it likes; so may the configuration, for
//! every pod.

mod added;
#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::cluster::{NodeId, PodContext, Snapshot};
use crate::config::PluginArgs;
use crate::framework::{
    Admission, Cure, Filter, NodeFilter, Normalise, Plugin, PreFilter, Reason, Rejection, Scope, Score,
    Scorer, Verdict, on_ledger, score_ledger,
};
use crate::model::affinity::{
    NODE_NAME_FIELD, NodeAffinity as Wishes, NodeOperator, NodeRequirement, NodeSelector, NodeTerm,
};
use crate::model::ids::NodeName;
use crate::model::{Labels, Node, Pod};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The plugin, with what the configuration wishes for every pod.
#[derive(Clone, Debug, Default)]
pub struct NodeAffinity {
    added: Wishes,
}

const NAME: &str = "NodeAffinity";
const CONFLICT: &str = "pod affinity terms conflict";
const NOT_ENFORCED: &str = "node(s) didn't match scheduler-enforced node affinity";
const NOT_MATCHED: &str = "node(s) didn't match Pod's node affinity/selector";

/// The plugin at its extension points.
pub(super) fn kit(args: &PluginArgs) -> Kit {
    let added = args.node_affinity.added_affinity.as_ref().map(added::wishes);
    let plugin = Arc::new(NodeAffinity { added: added.unwrap_or_default() });
    Kit {
        pre_filter: Some(plugin.clone()),
        filter: Some(plugin.clone()),
        score: Some(plugin),
        ..Kit::default()
    }
}

impl Plugin for NodeAffinity {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl PreFilter for NodeAffinity {
    fn pre_filter(&self, pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Admission {
        match required(pod_context.pod).and_then(|selector| named(&selector.terms)) {
            None => Admission::All,
            Some(names) if names.is_empty() => {
                let reason = Reason::said_for_good(CONFLICT, Cure::Pod);
                Admission::Rejects(vec![Rejection::new(NAME, reason)])
            }
            Some(names) => Admission::Only(names),
        }
    }
}

impl Filter for NodeAffinity {
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        let enforced = self.added.required.as_ref();
        let (labels, needed) = (pod_context.pod.spec.node_selector.as_ref(), required(pod_context.pod));
        if enforced.is_none() && labels.is_none() && needed.is_none() {
            return None;
        }
        let reject = |words| Verdict::rejects(NAME, Reason::said_for_good(words, Cure::Node));
        on_ledger(world, move |ledger| match &*ledger.node {
            node if !is_selected(enforced, node) => reject(NOT_ENFORCED),
            node if !has_all(labels, &node.labels) || !is_selected(needed, node) => reject(NOT_MATCHED),
            _ => Verdict::Fits,
        })
    }
}

impl Score for NodeAffinity {
    /// A malformed wish must not be found before the nodes were filtered: with a single one left nobody asks.
    fn scope(&self, pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        match preferred(pod_context.pod) {
            Some(wishes) if wishes.has_malformed_preferred() => Scope::Cluster,
            _ => Scope::Node(0),
        }
    }

    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, String> {
        let wishes = preferred(pod_context.pod);
        if let Some(wishes) = wishes.filter(|wishes| wishes.has_malformed_preferred()) {
            return Err(wishes.preferred_problem().unwrap_or_default());
        }
        if wishes.is_none() && self.added.preferred.is_empty() {
            return Ok(None);
        }
        let score = move |node: &Node| {
            let both = [Some(&self.added), wishes].into_iter().flatten();
            both.map(|wishes| wishes.score(&node.labels, node.name.as_str())).sum()
        };
        Ok(Some(score_ledger(world, Normalise::ByHighest, move |ledger| score(&ledger.node))))
    }
}

/// Which nodes alone the pod's affinity allows.
fn required(pod: &Pod) -> Option<&NodeSelector> {
    pod.spec.affinity.as_ref()?.node.as_ref()?.required.as_ref()
}

/// The pod's affinity, if it likes some nodes more than others.
fn preferred(pod: &Pod) -> Option<&Wishes> {
    pod.spec.affinity.as_ref()?.node.as_ref().filter(|wishes| !wishes.preferred.is_empty())
}

/// The names that the terms restrict the pod to; `None` if one of them restricts nothing, or there are none.
fn named(terms: &[NodeTerm]) -> Option<BTreeSet<NodeName>> {
    let mut all = BTreeSet::new();
    for term in terms {
        all.extend(named_by_all(term)?);
    }
    (!terms.is_empty()).then_some(all)
}

/// The names that every such requirement of the term has; `None` if it has no such requirement.
fn named_by_all(term: &NodeTerm) -> Option<BTreeSet<NodeName>> {
    let restricts =
        |field: &&NodeRequirement| &*field.key == NODE_NAME_FIELD && field.operator == NodeOperator::In;
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
