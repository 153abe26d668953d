//! `spec.affinity`, and which nodes a node selector matches.

use super::ids::Text;
use super::labels::Labels;
use super::requirement::{Operator, Requirement, invalid, list, unsupported};
use super::selector::Selector;

/// Where a pod wants to be: on which nodes, near which pods, away from which pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Affinity {
    /// `nodeAffinity`.
    pub node: Option<NodeAffinity>,
    /// `podAffinity`.
    pub pod: PodTerms,
    /// `podAntiAffinity`.
    pub anti: PodTerms,
}

/// `nodeAffinity`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeAffinity {
    /// Which nodes alone will do.
    pub required: Option<NodeSelector>,
    /// Which nodes are liked, and how much.
    pub preferred: Box<[(i32, NodeTerm)]>,
}

/// A `NodeSelector`: one of its terms must match. Without terms it matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeSelector {
    /// The terms.
    pub terms: Box<[NodeTerm]>,
}

/// A `NodeSelectorTerm`: all its requirements must hold. Without requirements it matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeTerm {
    expressions: Box<[NodeRequirement]>,
    fields: Box<[NodeRequirement]>,
    /// Whether it cannot be understood. Known from the start: terms are made once and asked about each node.
    is_malformed: bool,
}

/// What a node selector asks of one label or field.
pub type NodeRequirement = Requirement;

/// How a node selector compares.
pub type NodeOperator = Operator;

/// `podAffinity` or `podAntiAffinity`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PodTerms {
    /// What must hold.
    pub required: Box<[PodTerm]>,
    /// What is liked, and how much.
    pub preferred: Box<[(i32, PodTerm)]>,
}

/// A `PodAffinityTerm`: which pods, and what it means to be near them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PodTerm {
    /// Which pods; `None` means none.
    pub selector: Option<Selector>,
    /// The namespaces of those pods. With no selector of namespaces either it is the pod's own.
    pub namespaces: Box<[Text]>,
    /// More namespaces, by their labels; an empty selector means all.
    pub namespace_selector: Option<Selector>,
    /// The node label whose value is the same for nodes that are near each other.
    pub topology_key: Text,
}

/// The only field that nodes can be selected by.
pub const NODE_NAME_FIELD: &str = "metadata.name";

impl NodeSelector {
    /// Whether one of the terms matches the node called `name` with these labels. A malformed term is passed over.
    pub fn matches(&self, labels: &Labels, name: &str) -> bool {
        self.terms.iter().any(|term| term.matches(labels, name))
    }
}

impl NodeAffinity {
    /// What is wrong with the preferred terms, in the words of kube-scheduler, which then schedules the pod nowhere.
    pub fn preferred_problem(&self) -> Option<String> {
        let counts = |(_, (weight, term)): &(usize, &(i32, NodeTerm))| *weight != 0 && !term.is_empty();
        let problems = |(index, (_, term)): (usize, &(i32, NodeTerm))| term.problems(&format!("[{index}]"));
        joined(self.preferred.iter().enumerate().filter(counts).flat_map(problems).collect())
    }

    /// Whether there is something wrong with them: the same question, cheaper.
    pub fn has_malformed_preferred(&self) -> bool {
        self.preferred.iter().any(|(weight, term)| *weight != 0 && term.is_malformed)
    }

    /// The sum of the weights of the preferred terms that match the node called `name` with these labels.
    pub fn score(&self, labels: &Labels, name: &str) -> i64 {
        let matching = self.preferred.iter().filter(|(_, term)| term.matches(labels, name));
        matching.map(|(weight, _)| i64::from(*weight)).sum()
    }
}

impl NodeTerm {
    /// A term that asks this of a node's labels and that of its fields.
    pub fn new(
        expressions: impl Into<Box<[NodeRequirement]>>,
        fields: impl Into<Box<[NodeRequirement]>>,
    ) -> Self {
        let mut term = Self { expressions: expressions.into(), fields: fields.into(), is_malformed: false };
        term.is_malformed = !term.problems("").is_empty();
        term
    }

    /// What it asks of labels.
    pub fn expressions(&self) -> &[NodeRequirement] {
        &self.expressions
    }

    /// What it asks of fields.
    pub fn fields(&self) -> &[NodeRequirement] {
        &self.fields
    }

    /// Whether it asks for nothing, and so matches nothing.
    pub fn is_empty(&self) -> bool {
        self.expressions.is_empty() && self.fields.is_empty()
    }

    /// Whether it matches the node called `name` with these labels.
    pub fn matches(&self, labels: &Labels, name: &str) -> bool {
        // As upstream, what has no name is not asked about it.
        let has_fields = || name.is_empty() || self.fields.iter().all(|field| field_matches(field, name));
        !self.is_malformed
            && !self.is_empty()
            && self.expressions.iter().all(|requirement| requirement.matches(labels))
            && has_fields()
    }

    /// Why it cannot be understood, in Kubernetes' words.
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

impl PodTerms {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.required.is_empty() && self.preferred.is_empty()
    }
}

/// A field that is not there reads as empty, and the only one that is there is the name.
fn field_matches(requirement: &NodeRequirement, name: &str) -> bool {
    let own = if &*requirement.key == NODE_NAME_FIELD { name } else { "" };
    let is_named = requirement.values.iter().any(|value| **value == *own);
    is_named == (requirement.operator == Operator::In)
}

fn field_problem(requirement: &NodeRequirement, path: &str) -> Option<String> {
    match requirement.operator {
        Operator::In | Operator::NotIn if requirement.values.len() == 1 => None,
        Operator::In | Operator::NotIn => {
            Some(invalid(&format!("{path}.values"), &list(&requirement.values), "must have one element"))
        }
        other => Some(unsupported(&format!("{path}.operator"), other, &[Operator::In, Operator::NotIn])),
    }
}

/// Several problems as one, as Kubernetes puts them: each once, in brackets if there are several.
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
