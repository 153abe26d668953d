//! Which of the pod's requirements a node does not meet. Entry point: [`unmet_requirements`].

use crate::framework::UnmetRequirement;
use crate::model::{Labels, Node, NodeSelectorTerm, Operator, Pod, Requirement, Text};

/// The requirements that the node does not meet: of the pod's nodeSelector, and of that term of its node affinity of which the
/// fewest are not met.
pub fn unmet_requirements(pod: &Pod, node: &Node) -> Vec<UnmetRequirement> {
    let equals = |(key, value): (&str, &str)| Requirement {
        key: key.into(),
        operator: Operator::In,
        values: [value.into()].into(),
    };
    let selector = pod.spec.node_selector.iter().flat_map(Labels::iter).map(equals);
    let mut unmet: Vec<UnmetRequirement> = selector.filter_map(|one| unmet_label(&one, node)).collect();
    let required = super::required(pod).filter(|required| !super::is_selected(Some(required), node));
    let of_terms = required.iter().flat_map(|required| &required.terms).map(|term| unmet_of_term(term, node));
    unmet.extend(of_terms.min_by_key(Vec::len).unwrap_or_default());
    unmet
}

fn unmet_of_term(term: &NodeSelectorTerm, node: &Node) -> Vec<UnmetRequirement> {
    let name: Text = node.name.as_str().into();
    let is_named = |field: &Requirement| field.values.contains(&name);
    let fields = term.fields().iter().filter(|field| is_named(field) != (field.operator == Operator::In));
    let unmet_field = |field: &Requirement| UnmetRequirement {
        requirement: field.clone(),
        is_field: true,
        has: Some(name.clone()),
    };
    let labels = term.expressions().iter().filter_map(|one| unmet_label(one, node));
    labels.chain(fields.map(unmet_field)).collect()
}

fn unmet_label(requirement: &Requirement, node: &Node) -> Option<UnmetRequirement> {
    let has = node.labels.get(&requirement.key).map(Text::from);
    let unmet = || UnmetRequirement { requirement: requirement.clone(), is_field: false, has };
    (!requirement.matches(&node.labels)).then(unmet)
}
