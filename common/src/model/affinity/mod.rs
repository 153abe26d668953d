//! `spec.affinity` of a pod, and which nodes a node selector matches.

use super::ids::Text;
use super::labels::Labels;
use super::requirement::{Operator, Requirement, invalid, list, unsupported};
use super::selector::Selector;

/// `spec.affinity`: on which nodes, near which pods and away from which pods a pod must or should run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Affinity {
    pub node: Option<NodeAffinity>,
    pub pod: PodAffinityTerms,
    pub anti: PodAffinityTerms,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeAffinity {
    pub required: Option<NodeSelector>,
    pub preferred: Box<[(i32, NodeSelectorTerm)]>,
}

/// A `NodeSelector`: at least one of its terms must match. Without terms it matches no node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeSelector {
    pub terms: Box<[NodeSelectorTerm]>,
}

/// A `NodeSelectorTerm`: all its requirements must hold. Without requirements it matches no node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeSelectorTerm {
    expressions: Box<[NodeSelectorRequirement]>,
    fields: Box<[NodeSelectorRequirement]>,
    /// Whether the term is invalid. Computed once, because a term is made once and matched against every node.
    is_malformed: bool,
}

pub type NodeSelectorRequirement = Requirement;

pub type NodeSelectorOperator = Operator;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PodAffinityTerms {
    pub required: Box<[PodAffinityTerm]>,
    pub preferred: Box<[(i32, PodAffinityTerm)]>,
}

/// A `PodAffinityTerm`: which pods, and which nodes count as near them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PodAffinityTerm {
    /// Which pods; `None` matches no pod.
    pub selector: Option<Selector>,
    /// The namespaces of these pods. Without any, and without `namespace_selector`, the namespace of the pod that has the term.
    pub namespaces: Box<[Text]>,
    /// More namespaces, by their labels; an empty selector matches all.
    pub namespace_selector: Option<Selector>,
    /// The node label by which nodes are near each other: they have the same value.
    pub topology_key: Text,
}

/// The only field that nodes can be selected by.
pub const NODE_NAME_FIELD: &str = "metadata.name";

impl NodeSelector {
    /// Whether a term matches the node called `name` with these labels. A malformed term is ignored.
    pub fn matches(&self, labels: &Labels, name: &str) -> bool {
        self.terms.iter().any(|term| term.matches(labels, name))
    }
}

impl NodeAffinity {
    /// What is wrong with the preferred terms, in the words of kube-scheduler, which does not schedule the pod in this case.
    pub fn preferred_problem(&self) -> Option<String> {
        let counts =
            |(_, (weight, term)): &(usize, &(i32, NodeSelectorTerm))| *weight != 0 && !term.is_empty();
        let problems =
            |(index, (_, term)): (usize, &(i32, NodeSelectorTerm))| term.problems(&format!("[{index}]"));
        joined(self.preferred.iter().enumerate().filter(counts).flat_map(problems).collect())
    }

    /// Whether [`Self::preferred_problem`] returns something, at less cost.
    pub fn has_malformed_preferred(&self) -> bool {
        self.preferred.iter().any(|(weight, term)| *weight != 0 && term.is_malformed)
    }

    /// The sum of the weights of the preferred terms that match the node called `name` with these labels.
    pub fn score(&self, labels: &Labels, name: &str) -> i64 {
        let matching = self.preferred.iter().filter(|(_, term)| term.matches(labels, name));
        matching.map(|(weight, _)| i64::from(*weight)).sum()
    }
}

impl NodeSelectorTerm {
    /// A term with `expressions` about labels and `fields` about fields of a node.
    pub fn new(
        expressions: impl Into<Box<[NodeSelectorRequirement]>>,
        fields: impl Into<Box<[NodeSelectorRequirement]>>,
    ) -> Self {
        let mut term = Self { expressions: expressions.into(), fields: fields.into(), is_malformed: false };
        term.is_malformed = !term.problems("").is_empty();
        term
    }

    pub fn expressions(&self) -> &[NodeSelectorRequirement] {
        &self.expressions
    }

    pub fn fields(&self) -> &[NodeSelectorRequirement] {
        &self.fields
    }

    /// Whether the term has no requirements, and so matches no node.
    pub fn is_empty(&self) -> bool {
        self.expressions.is_empty() && self.fields.is_empty()
    }

    pub fn matches(&self, labels: &Labels, name: &str) -> bool {
        // As in kube-scheduler, an empty name is not compared.
        let matches_fields = || name.is_empty() || self.fields.iter().all(|field| field_matches(field, name));
        !self.is_malformed
            && !self.is_empty()
            && self.expressions.iter().all(|requirement| requirement.matches(labels))
            && matches_fields()
    }

    /// Why the term is invalid, in Kubernetes' words.
    pub fn problem(&self) -> Option<String> {
        joined(self.problems(""))
    }

    fn problems(&self, path: &str) -> Vec<String> {
        let dot = if path.is_empty() { "" } else { "." };
        let expressions = self.expressions.iter().enumerate().flat_map(|(index, requirement)| {
            requirement.problems(&format!("{path}{dot}matchExpressions[{index}]"))
        });
        let fields = self.fields.iter().enumerate().filter_map(|(index, requirement)| {
            field_problem(requirement, &format!("{path}{dot}matchFields[{index}]"))
        });
        expressions.chain(fields).collect()
    }
}

impl PodAffinityTerms {
    pub fn is_empty(&self) -> bool {
        self.required.is_empty() && self.preferred.is_empty()
    }
}

/// The only field is the name; any other field has an empty value.
fn field_matches(requirement: &NodeSelectorRequirement, name: &str) -> bool {
    let value_of_node = if &*requirement.key == NODE_NAME_FIELD { name } else { "" };
    let is_listed = requirement.values.iter().any(|value| **value == *value_of_node);
    is_listed == (requirement.operator == Operator::In)
}

fn field_problem(requirement: &NodeSelectorRequirement, path: &str) -> Option<String> {
    match requirement.operator {
        Operator::In | Operator::NotIn if requirement.values.len() == 1 => None,
        Operator::In | Operator::NotIn => {
            Some(invalid(&format!("{path}.values"), &list(&requirement.values), "must have one element"))
        }
        other => Some(unsupported(&format!("{path}.operator"), other, &[Operator::In, Operator::NotIn])),
    }
}

/// Joins problems as Kubernetes does: each problem once, in brackets if there are several.
fn joined(problems: Vec<String>) -> Option<String> {
    let mut once: Vec<String> = Vec::with_capacity(problems.len());
    for problem in problems {
        if !once.contains(&problem) {
            once.push(problem);
        }
    }
    match &*once {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(format!("[{}]", several.join(", "))),
    }
}

#[cfg(test)]
mod tests;
