//! Selects reservations by namespace, node, owner and state, for `list` and `release`.

use super::{NodeSelection, Row};
use crate::connect::is_name;
use crate::error::Failure;
use crate::names::{self, ObjectKind};
use common::model::Selector;

/// The conditions that all selected reservations fulfil.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReservationFilter {
    /// The namespace of the owner; `None` for all.
    pub(crate) namespace: Option<String>,
    pub(crate) node: Option<String>,
    /// A selector for the labels of the node: its text, and parsed.
    pub(crate) nodes_with: Option<(String, Selector)>,
    /// The kind of the owner, if it is given, and its name.
    pub(crate) owner: Option<(Option<String>, String)>,
    /// Only expired reservations.
    pub(crate) is_expired: bool,
    /// Only reservations whose owner does not exist.
    pub(crate) is_orphaned: bool,
}

impl ReservationFilter {
    /// A filter by namespace, node and owner, from the arguments.
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

    /// Whether `row` fulfils all conditions.
    pub(crate) fn keeps(&self, row: &Row<'_>) -> bool {
        self.is_about(row)
            && (!self.is_expired || row.is_expired())
            && (!self.is_orphaned || row.is_orphaned())
            && self.namespace.as_deref().is_none_or(|namespace| row.is_in(namespace))
    }

    /// The nodes that have to be read.
    pub(crate) fn node_selection(&self) -> NodeSelection {
        match (&self.node, &self.nodes_with) {
            (Some(node), _) => NodeSelection::Named(vec![node.clone()]),
            (None, Some((typed, _))) => NodeSelection::ReservedWith(typed.clone()),
            (None, None) => NodeSelection::Reserved,
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
    let asked = names::parse_args(&[word.to_owned()])?;
    let asked = asked.into_iter().next().ok_or_else(|| Failure::usage("--owner is empty"))?;
    let kind = asked.kind.map(|kind| match kind {
        ObjectKind::Pod => "Pod".to_owned(),
        ObjectKind::Workload(kind) => kind.as_str().to_owned(),
    });
    Ok((kind, asked.name))
}
