//! Which reservations are meant, by what they are rather than by name.

use super::{Row, Which};
use crate::connect::is_name;
use crate::error::Failure;
use crate::names::{self, Kind};
use common::model::Selector;

/// What all of them have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Their namespace; none for all.
    pub(crate) namespace: Option<String>,
    pub(crate) node: Option<String>,
    /// The labels of their nodes, as they were typed and as they are meant.
    pub(crate) nodes_with: Option<(String, Selector)>,
    /// Kind, if that was typed, and name of their owner.
    pub(crate) owner: Option<(Option<String>, String)>,
    /// Only those whose time is over.
    pub(crate) is_expired: bool,
    /// Only those that nobody is there for.
    pub(crate) is_orphaned: bool,
}

impl Filter {
    /// By namespace, node and owner, as they were typed.
    pub(crate) fn new(
        namespace: Option<String>,
        node: Option<&str>,
        owner: Option<&str>,
    ) -> Result<Self, Failure> {
        if let Some(node) = node.filter(|node| !is_name(node)) {
            return Err(Failure::usage(format!("--node {node:?} is not the name of a node")));
        }
        let owner = owner.map(parse_owner).transpose()?;
        Ok(Self { namespace, node: node.map(str::to_owned), owner, ..Self::default() })
    }

    /// Whether `row` is meant.
    pub(crate) fn keeps(&self, row: &Row<'_>) -> bool {
        self.is_about(row)
            && (!self.is_expired || row.is_expired())
            && (!self.is_orphaned || row.is_orphaned())
            && self.namespace.as_deref().is_none_or(|namespace| row.is_in(namespace))
    }

    /// The nodes that have to be looked at.
    pub(crate) fn which(&self) -> Which {
        match (&self.node, &self.nodes_with) {
            (Some(node), _) => Which::Named(vec![node.clone()]),
            (None, Some((typed, _))) => Which::ReservedWith(typed.clone()),
            (None, None) => Which::Reserved,
        }
    }

    fn is_about(&self, row: &Row<'_>) -> bool {
        let is_owner = |(kind, name): &(Option<String>, String)| {
            row.owner().is_some_and(|owner| {
                *owner.name == **name && kind.as_deref().is_none_or(|kind| *owner.kind == *kind)
            })
        };
        let has_labels = |(_, selector): &(String, Selector)| selector.matches(&row.ledger.node.labels);
        self.node.as_deref().is_none_or(|node| row.node() == node)
            && self.nodes_with.as_ref().is_none_or(has_labels)
            && self.owner.as_ref().is_none_or(is_owner)
    }
}

fn parse_owner(word: &str) -> Result<(Option<String>, String), Failure> {
    let asked = names::asked(&[word.to_owned()])?;
    let asked = asked.into_iter().next().ok_or_else(|| Failure::usage("--owner is empty"))?;
    let kind = asked.kind.map(|kind| match kind {
        Kind::Pod => "Pod".to_owned(),
        Kind::Workload(kind) => kind.as_str().to_owned(),
    });
    Ok((kind, asked.name))
}
