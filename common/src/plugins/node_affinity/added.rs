//! The affinity that the configuration adds to every pod, as one that a pod could have.

use crate::config::{AddedAffinity, NodeRequirement, NodeTerm};
use crate::model::affinity::{self, NodeAffinity, NodeOperator, NodeSelector};

/// What `added` wishes.
pub(super) fn wishes(added: &AddedAffinity) -> NodeAffinity {
    let selector = |terms: &Vec<NodeTerm>| NodeSelector { terms: terms.iter().map(term).collect() };
    NodeAffinity {
        required: added.required.as_ref().map(selector),
        preferred: added.preferred.iter().map(|(weight, wish)| (*weight, term(wish))).collect(),
    }
}

fn term(term: &NodeTerm) -> affinity::NodeTerm {
    let read = |requirements: &[NodeRequirement]| -> Box<[affinity::NodeRequirement]> {
        requirements.iter().map(requirement).collect()
    };
    affinity::NodeTerm::new(read(&term.match_expressions), read(&term.match_fields))
}

fn requirement(requirement: &NodeRequirement) -> affinity::NodeRequirement {
    affinity::NodeRequirement {
        key: requirement.key.as_str().into(),
        operator: NodeOperator::from_name(&requirement.operator),
        values: requirement.values.iter().map(|value| value.as_str().into()).collect(),
    }
}
