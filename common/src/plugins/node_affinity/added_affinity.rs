//! Converts the `addedAffinity` of the configuration to the node affinity of the model.

use crate::config::{AddedAffinity, NodeRequirement, NodeTerm};
use crate::model::affinity::{self, NodeAffinity, NodeSelector, NodeSelectorOperator};

/// `added` as the node affinity of a pod.
pub(super) fn node_affinity(added: &AddedAffinity) -> NodeAffinity {
    let selector = |terms: &Vec<NodeTerm>| NodeSelector { terms: terms.iter().map(term).collect() };
    NodeAffinity {
        required: added.required.as_ref().map(selector),
        preferred: added.preferred.iter().map(|(weight, preferred)| (*weight, term(preferred))).collect(),
    }
}

fn term(term: &NodeTerm) -> affinity::NodeSelectorTerm {
    let read = |requirements: &[NodeRequirement]| -> Box<[affinity::NodeSelectorRequirement]> {
        requirements.iter().map(requirement).collect()
    };
    affinity::NodeSelectorTerm::new(read(&term.match_expressions), read(&term.match_fields))
}

fn requirement(requirement: &NodeRequirement) -> affinity::NodeSelectorRequirement {
    affinity::NodeSelectorRequirement {
        key: requirement.key.as_str().into(),
        operator: NodeSelectorOperator::from_name(&requirement.operator),
        values: requirement.values.iter().map(|value| value.as_str().into()).collect(),
    }
}
