//! The reservations of a cluster as people meet them: one by one, each with a name, an owner, a node and a state.

pub(crate) mod change;
#[cfg(test)]
mod change_tests;
mod each;
mod filter;
#[cfg(test)]
pub(crate) mod fixture;
mod owners;
mod read;
pub(crate) mod record;
mod resolve;
#[cfg(test)]
mod tests;
mod waiting;

pub(crate) use filter::Filter;
pub(crate) use owners::{top_of, top_of_pod};
pub(crate) use read::{Pods, View, Which, local_time, no_node, read};
pub(crate) use resolve::{Asked, find, matching, parse};
pub(crate) use waiting::{Waiting, waiting};

use common::api::names;
use common::cluster::ledger::Entry;
use common::cluster::{Ledger, Snapshot, State};
use common::model::Resources;
use common::model::owner::{Owner, OwnerKind};
use common::model::reservation::{Invalid, Origin, ReservationId};
use jiff::Timestamp;

/// A reservation, or what was meant as one.
#[derive(Clone, Debug)]
pub(crate) struct Row<'w> {
    /// The books of the node that it is on.
    pub(crate) ledger: &'w Ledger,
    /// What is there.
    pub(crate) what: What<'w>,
}

/// What an annotation came to.
#[derive(Clone, Debug)]
pub(crate) enum What<'w> {
    /// A reservation, and its owner if that is known.
    Reservation {
        /// The entry in the node's books.
        entry: &'w Entry,
        /// Its owner.
        owner: Option<Owner>,
        /// Whether that is known to be no more.
        is_owner_gone: bool,
    },
    /// Something malformed.
    Invalid(&'w Invalid),
}

/// All reservations of the cluster: by namespace, owner and node, those without a known namespace last.
pub(crate) fn rows<'s>(snapshot: &'s Snapshot<'_>) -> Vec<Row<'s>> {
    let mut rows = Vec::new();
    for ledger in snapshot.nodes() {
        let valid = ledger.entries.iter().map(|entry| {
            let owner = owner(entry, snapshot);
            let is_owner_gone = owner.as_ref().is_some_and(|owner| is_gone(owner, snapshot));
            What::Reservation { entry, owner, is_owner_gone }
        });
        let invalid =
            ledger.node.reservations.iter().filter_map(|parsed| parsed.invalid()).map(What::Invalid);
        rows.extend(valid.chain(invalid).map(|what| Row { ledger, what }));
    }
    rows.sort_by_cached_key(Row::order);
    rows
}

/// The owner: the recorded one, or whatever has the UID that somebody wrote by hand.
fn owner(entry: &Entry, snapshot: &Snapshot<'_>) -> Option<Owner> {
    match &entry.reservation.origin {
        Origin::Recorded(record) => Some(record.owner.clone()),
        Origin::Manual | Origin::Newer { .. } => snapshot.owner(&entry.reservation.id.owner),
    }
}

/// Whether `owner` is a workload that could be read and is not there any more, or is on its way out. A bare pod comes and goes.
fn is_gone(owner: &Owner, snapshot: &Snapshot<'_>) -> bool {
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

/// Amounts in words: `cpu 500m, memory 1Gi`. The pod slot, which each reservation has, goes without saying.
pub(crate) fn words(amounts: &Resources) -> String {
    let said = amounts.iter().filter(|(resource, _)| resource.as_str() != "pods");
    let words: Vec<String> =
        said.map(|(resource, amount)| format!("{resource} {}", resource.format(amount))).collect();
    if words.is_empty() { "1 pod".into() } else { words.join(", ") }
}

/// An owner in words: `Deployment/testngx`.
pub(crate) fn owner_name(owner: &Owner) -> String {
    format!("{}/{}", owner.kind, owner.name)
}

/// What a reservation is called: its seat, or the owner's UID in the plain form.
pub(crate) fn name_of(id: &ReservationId) -> String {
    match &id.seat {
        Some(seat) => seat.as_str().to_owned(),
        None => id.owner.to_string(),
    }
}

impl<'w> Row<'w> {
    /// The name of its node.
    pub(crate) fn node(&self) -> &'w str {
        self.ledger.node.name.as_str()
    }

    /// `NODE/NAME`, which names it in the whole cluster.
    pub(crate) fn id(&self) -> String {
        format!("{}/{}", self.node(), self.name())
    }

    /// The seat, the owner's UID in the plain form, or the key of something malformed.
    pub(crate) fn name(&self) -> String {
        match &self.what {
            What::Reservation { entry, .. } => name_of(&entry.reservation.id),
            What::Invalid(invalid) => invalid.key.to_string(),
        }
    }

    /// The entry in the node's books, if it is well-formed.
    pub(crate) fn entry(&self) -> Option<&'w Entry> {
        match &self.what {
            What::Reservation { entry, .. } => Some(entry),
            What::Invalid(_) => None,
        }
    }

    /// The owner, if that is known.
    pub(crate) fn owner(&self) -> Option<&Owner> {
        match &self.what {
            What::Reservation { owner, .. } => owner.as_ref(),
            What::Invalid(_) => None,
        }
    }

    /// The namespace of the owner, if that is known.
    pub(crate) fn namespace(&self) -> Option<&str> {
        self.owner().map(|owner| &*owner.namespace)
    }

    /// Whether it belongs to `namespace`, or may do so.
    pub(crate) fn is_in(&self, namespace: &str) -> bool {
        self.namespace().is_none_or(|own| own == namespace)
    }

    /// Whether it was written by hand in the plain form.
    pub(crate) fn is_manual(&self) -> bool {
        self.entry().is_some_and(|entry| entry.reservation.is_manual())
    }

    /// Whether nobody is there who could use it: made by hand for nobody that was found, or the owner is gone.
    pub(crate) fn is_orphaned(&self) -> bool {
        match &self.what {
            What::Reservation { entry, owner: None, .. } => entry.reservation.is_manual(),
            What::Reservation { is_owner_gone, .. } => *is_owner_gone,
            What::Invalid(_) => false,
        }
    }

    /// Whether its time is over.
    pub(crate) fn is_expired(&self) -> bool {
        self.entry().is_some_and(|entry| entry.state == State::Expired)
    }

    /// What is wrong with it, if it is malformed.
    pub(crate) fn invalid(&self) -> Option<&'w Invalid> {
        match &self.what {
            What::Reservation { .. } => None,
            What::Invalid(invalid) => Some(invalid),
        }
    }

    /// Whether somebody could lose a place if it were no more.
    pub(crate) fn keeps_room(&self) -> bool {
        self.entry().is_some_and(|entry| matches!(entry.state, State::Occupied | State::Held | State::Short))
    }

    /// When it ends.
    pub(crate) fn expires(&self) -> Option<Timestamp> {
        self.entry().and_then(|entry| entry.reservation.expires())
    }

    /// What its annotations are called after the slash; none if that cannot be told.
    pub(crate) fn key_name(&self) -> Option<String> {
        match &self.what {
            What::Reservation { entry, .. } => Some(entry.reservation.id.to_string()),
            What::Invalid(invalid) => {
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
