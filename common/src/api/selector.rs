//! Decodes label selectors and node selectors.

use super::meta::{NullableList, Pairs, Str, or_empty};
use crate::model::excerpt::excerpt;
use crate::model::{NodeSelector, NodeSelectorTerm, Operator, Requirement, Selector};
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct SelectorWire<'a> {
    match_labels: Option<Pairs<'a>>,
    match_expressions: NullableList<RequirementWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct NodeSelectorWire<'a> {
    node_selector_terms: NullableList<NodeTermWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct NodeTermWire<'a> {
    match_expressions: NullableList<RequirementWire<'a>>,
    match_fields: NullableList<RequirementWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct RequirementWire<'a> {
    key: Option<Str<'a>>,
    operator: Option<Str<'a>>,
    values: NullableList<Str<'a>>,
}

impl SelectorWire<'_> {
    /// The selector, or why it is invalid.
    pub(super) fn selector(&self) -> Result<Selector, String> {
        let labels = self.match_labels.as_ref().map_or(&[][..], |labels| &labels.0);
        let mut all: Vec<Requirement> = Vec::with_capacity(labels.len() + self.match_expressions.0.len());
        all.extend(labels.iter().map(|(key, value)| Requirement {
            key: (&**key).into(),
            operator: Operator::In,
            values: Box::new([(&**value).into()]),
        }));
        for wire in &self.match_expressions.0 {
            let requirement = wire.requirement();
            if !requirement.operator.is_for_labels() {
                let word = wire.operator.as_ref().map_or("", |operator| &operator.0);
                return Err(format!("\"{}\" is not a valid label selector operator", excerpt(word, 40)));
            }
            all.push(requirement);
        }
        match all.iter().flat_map(|requirement| requirement.problems("")).next() {
            Some(problem) => Err(problem),
            None => Ok(Selector::new(all)),
        }
    }
}

impl NodeSelectorWire<'_> {
    /// The selector. Invalid terms are part of it, and match no node.
    pub(super) fn selector(&self) -> NodeSelector {
        NodeSelector { terms: self.node_selector_terms.0.iter().map(NodeTermWire::term).collect() }
    }
}

impl NodeTermWire<'_> {
    pub(super) fn term(&self) -> NodeSelectorTerm {
        let read = |wires: &NullableList<RequirementWire<'_>>| -> Box<[Requirement]> {
            wires.0.iter().map(RequirementWire::requirement).collect()
        };
        NodeSelectorTerm::new(read(&self.match_expressions), read(&self.match_fields))
    }
}

impl RequirementWire<'_> {
    fn requirement(&self) -> Requirement {
        Requirement {
            key: or_empty(self.key.as_ref()),
            operator: Operator::from_name(self.operator.as_ref().map_or("", |operator| &operator.0)),
            values: self.values.texts(),
        }
    }
}

pub(super) fn optional(wire: Option<&SelectorWire<'_>>) -> Result<Option<Selector>, String> {
    wire.map(SelectorWire::selector).transpose()
}
