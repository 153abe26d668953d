//! The reservations of a cluster as users see them: `read` reads them, `rows` lists them, each with a name, an owner, a node and a
//! state; `find` looks one up by name, `change` plans the patches.

pub(crate) mod change;
#[cfg(test)]
mod change_tests;
mod filter;
#[cfg(test)]
pub(crate) mod fixture;
mod owners;
mod per_node;
mod read;
pub(crate) mod record;
mod resolve;
#[cfg(test)]
mod tests;
mod waiting_pods;

pub(crate) use filter::ReservationFilter;
pub(crate) use owners::{top_of, top_of_pod};
pub(crate) use read::{NodeSelection, PodSelection, ReservationView, no_node, read};
pub(crate) use resolve::{ReservationArg, find, matching, parse_arg};
pub(crate) use waiting_pods::{WaitingPod, waiting_pods};

use crate::amount::shown;
use common::api::names;
use common::cluster::ledger::Entry;
use common::cluster::{Ledger, ReservationState, Snapshot};
use common::model::reservation::InvalidAnnotation;
use common::model::{Origin, Owner, OwnerKind, ReservationId, Resources};
use jiff::Timestamp;

/// A reservation, or a malformed annotation.
#[derive(Clone, Debug)]
pub(crate) struct Row<'w> {
    pub(crate) ledger: &'w Ledger,
    pub(crate) content: RowContent<'w>,
}

#[derive(Clone, Debug)]
pub(crate) enum RowContent<'w> {
    Reservation {
        /// The entry in the node's ledger.
        entry: &'w Entry,
        owner: Option<Owner>,
        /// Whether the owner is known not to exist any more.
        is_owner_gone: bool,
    },
    Invalid(&'w InvalidAnnotation),
}

/// All reservations of the cluster, sorted by namespace, owner and node; those without a known namespace last.
pub(crate) fn rows<'s>(snapshot: &'s Snapshot<'_>) -> Vec<Row<'s>> {
    let mut rows = Vec::new();
    for ledger in snapshot.nodes() {
        let valid = ledger.entries.iter().map(|entry| {
            let owner = owner(entry, snapshot);
            let is_owner_gone = owner.as_ref().is_some_and(|owner| is_gone(owner, snapshot));
            RowContent::Reservation { entry, owner, is_owner_gone }
        });
        let invalid =
            ledger.node.reservations.iter().filter_map(|parsed| parsed.invalid()).map(RowContent::Invalid);
        rows.extend(valid.chain(invalid).map(|content| Row { ledger, content }));
    }
    rows.sort_by_cached_key(Row::order);
    rows
}

/// The owner: that of the record; in the plain form the object with the UID in the key.
fn owner(entry: &Entry, snapshot: &Snapshot<'_>) -> Option<Owner> {
    match &entry.reservation.origin {
        Origin::Recorded(record) => Some(record.owner.clone()),
        Origin::Manual | Origin::Newer { .. } => snapshot.owner(&entry.reservation.id.owner),
    }
}

/// Whether `owner` is a workload of a readable kind that does not exist any more, or is being deleted. Never for a bare pod, which
/// may be created again.
pub(crate) fn is_gone(owner: &Owner, snapshot: &Snapshot<'_>) -> bool {
    let Some(kind) = OwnerKind::ALL.into_iter().find(|kind| kind.as_str() == &*owner.kind) else {
        return false;
    };
    let owners = snapshot.owners();
    let found = owners.named(kind, &owner.namespace, &owner.name);
    match found.filter(|workload| workload.uid == owner.uid) {
        Some(workload) => workload.is_deleting,
        None => owners.is_readable(kind),
    }
}

/// Amounts in words: `cpu 0.5, memory 1Gi`. The pod slot, which each reservation has, is left out.
pub(crate) fn words(amounts: &Resources) -> String {
    let said = amounts.iter().filter(|(resource, _)| resource.as_str() != "pods");
    let words: Vec<String> =
        said.map(|(resource, amount)| format!("{resource} {}", shown(&resource, amount))).collect();
    if words.is_empty() { "1 pod".into() } else { words.join(", ") }
}

/// An owner in words: `Deployment/testngx`.
pub(crate) fn owner_name(owner: &Owner) -> String {
    format!("{}/{}", owner.kind, owner.name)
}

/// The name of a reservation: its seat, or the owner's UID in the plain form.
pub(crate) fn name_of(id: &ReservationId) -> String {
    match &id.seat {
        Some(seat) => seat.as_str().to_owned(),
        None => id.owner.to_string(),
    }
}

impl<'w> Row<'w> {
    pub(crate) fn node(&self) -> &'w str {
        self.ledger.node.name.as_str()
    }

    /// `NODE/NAME`, which is unique in the cluster.
    pub(crate) fn id(&self) -> String {
        format!("{}/{}", self.node(), self.name())
    }

    /// The seat, the owner's UID in the plain form, or the key of a malformed annotation.
    pub(crate) fn name(&self) -> String {
        match &self.content {
            RowContent::Reservation { entry, .. } => name_of(&entry.reservation.id),
            RowContent::Invalid(invalid) => invalid.key.to_string(),
        }
    }

    /// The entry in the node's ledger, if the reservation is valid.
    pub(crate) fn entry(&self) -> Option<&'w Entry> {
        match &self.content {
            RowContent::Reservation { entry, .. } => Some(entry),
            RowContent::Invalid(_) => None,
        }
    }

    pub(crate) fn owner(&self) -> Option<&Owner> {
        match &self.content {
            RowContent::Reservation { owner, .. } => owner.as_ref(),
            RowContent::Invalid(_) => None,
        }
    }

    /// The namespace of the owner, if it is known.
    pub(crate) fn namespace(&self) -> Option<&str> {
        self.owner().map(|owner| &*owner.namespace)
    }

    /// Whether the owner is in `namespace`, or its namespace is unknown.
    pub(crate) fn is_in(&self, namespace: &str) -> bool {
        self.namespace().is_none_or(|own| own == namespace)
    }

    /// Whether it has the plain form.
    pub(crate) fn is_manual(&self) -> bool {
        self.entry().is_some_and(|entry| entry.reservation.is_manual())
    }

    /// Whether no pod can ever use it: its owner is gone, or the UID of a plain form was not found.
    pub(crate) fn is_orphaned(&self) -> bool {
        match &self.content {
            RowContent::Reservation { entry, owner: None, .. } => entry.reservation.is_manual(),
            RowContent::Reservation { is_owner_gone, .. } => *is_owner_gone,
            RowContent::Invalid(_) => false,
        }
    }

    pub(crate) fn is_expired(&self) -> bool {
        self.entry().is_some_and(|entry| entry.state == ReservationState::Expired)
    }

    pub(crate) fn invalid(&self) -> Option<&'w InvalidAnnotation> {
        match &self.content {
            RowContent::Reservation { .. } => None,
            RowContent::Invalid(invalid) => Some(invalid),
        }
    }

    /// Whether a pod could lose its place if the reservation were released.
    pub(crate) fn keeps_room(&self) -> bool {
        self.entry().is_some_and(|entry| {
            matches!(
                entry.state,
                ReservationState::Occupied | ReservationState::Held | ReservationState::Short
            )
        })
    }

    pub(crate) fn expires(&self) -> Option<Timestamp> {
        self.entry().and_then(|entry| entry.reservation.expires())
    }

    /// The part of its annotation keys after the slash; `None` for a malformed key without our prefix.
    pub(crate) fn key_name(&self) -> Option<String> {
        match &self.content {
            RowContent::Reservation { entry, .. } => Some(entry.reservation.id.to_string()),
            RowContent::Invalid(invalid) => {
                let (prefix, name) = invalid.key.split_once('/')?;
                prefix.starts_with(names::NODE_PREFIX).then(|| name.to_owned())
            }
        }
    }

    fn order(&self) -> (bool, String, String, String, String) {
        let owner = self.owner().map(owner_name);
        let namespace = self.namespace().map(str::to_owned);
        (
            namespace.is_none(),
            namespace.unwrap_or_default(),
            owner.unwrap_or_default(),
            self.node().into(),
            self.name(),
        )
    }
}
