//! The books of one node at one moment: what is used, what is kept for whom, what is left for a given pod.
//!
//! Each reservation is counted exactly once: as the replaced pod while that is still there, as held room after
//! that, as the replacement once it is bound; and not at all when it is no longer live. The switch happens in the
//! same state update, because nothing here is remembered: it all follows from node, pods and time.
//!
//! The books say what is so, never that it fits: people can promise more than a node has.

use super::taken::{age, taken};
use super::whose::Asker;
use crate::model::requests::NonZero;
use crate::model::reservation::{Reservation, ReservationId};
use crate::model::{Node, ResourceName, Resources};
use jiff::Timestamp;
use std::borrow::Cow;

/// The books of one node.
#[derive(Debug)]
pub struct Ledger<'w> {
    /// The node.
    pub node: &'w Node,
    /// What the pods on it have asked for, one slot each.
    pub used: Resources,
    /// The same as scores see it, where a container that asks for nothing counts as a little.
    pub used_non_zero: NonZero,
    /// Its well-formed reservations, sorted by key.
    pub entries: Vec<Entry<'w>>,
}

/// A reservation in the books.
#[derive(Debug)]
pub struct Entry<'w> {
    /// The reservation.
    pub reservation: &'w Reservation,
    /// What has become of it.
    pub state: State,
    /// What is kept empty for it now.
    pub held: Resources,
    /// The pod that took it.
    pub taken_by: Option<&'w crate::model::Pod>,
}

/// What has become of a reservation. An *invalid* one never gets into the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The replaced pod still sits there; for the plain form, the owner's pods use all of it.
    Occupied,
    /// The room is empty and kept.
    Held,
    /// A pod of the owner has it.
    Taken,
    /// Held, but the node cannot hold all it has promised.
    Short,
    /// Its time is over.
    Expired,
}

/// A pod that takes room on a node: bound there, or assumed.
#[derive(Clone, Debug)]
pub struct Counted<'w> {
    /// The pod and its owners.
    pub asker: Asker<'w>,
    /// The reservation that it claims to have taken.
    pub stamp: Option<Cow<'w, str>>,
    /// When it was scheduled.
    pub since: Option<Timestamp>,
}

/// What a node has for one pod.
#[derive(Debug)]
pub struct Room<'l, 'w> {
    /// What the node has for pods.
    pub allocatable: &'l Resources,
    /// What pods on it have asked for.
    pub used: &'l Resources,
    /// What is kept for others.
    pub reserved: Resources,
    /// For whom it is kept.
    pub kept: Vec<&'l Entry<'w>>,
    /// The reservation that the pod would take.
    pub own: Option<&'w ReservationId>,
}

impl<'w> Ledger<'w> {
    /// Does the books of `node` with the pods counted on it.
    pub fn new(node: &'w Node, pods: &[Counted<'w>], now: Timestamp) -> Self {
        let mut used = Resources::default();
        let mut used_non_zero = NonZero::default();
        for counted in pods {
            used.add_assign(counted.asker.pod.spec.requests.counted());
            let counts = counted.asker.pod.spec.requests.non_zero_counted;
            used_non_zero.cpu = used_non_zero.cpu.saturating_add(counts.cpu);
            used_non_zero.memory = used_non_zero.memory.saturating_add(counts.memory);
        }
        let reservations: Vec<&Reservation> =
            node.reservations.iter().filter_map(|parsed| parsed.valid()).collect();
        let mut entries = entries(&reservations, pods, now);
        mark_short(&mut entries, &node.allocatable, &used);
        Self { node, used, used_non_zero, entries }
    }

    /// The room that `asker` finds here: everything that is neither used nor kept for others.
    pub fn room_for<'l>(&'l self, asker: &Asker<'_>) -> Room<'l, 'w> {
        let own = self.own(asker);
        let mut reserved = Resources::default();
        let mut kept = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            if own == Some(index) || entry.held.is_zero() || asker.passes(entry.reservation) {
                continue;
            }
            reserved.add_assign(&entry.held);
            kept.push(entry);
        }
        let own = own.map(|index| &self.entries[index].reservation.id);
        Room { allocatable: &self.node.allocatable, used: &self.used, reserved, kept, own }
    }

    /// The entry that `asker` would take: the one made for a pod of its name, else the oldest that it may use. A
    /// seat goes before the plain form, which stays for others to share.
    fn own(&self, asker: &Asker<'_>) -> Option<usize> {
        let usable = self.entries.iter().enumerate().filter(|(_, entry)| {
            matches!(entry.state, State::Held | State::Short) && asker.may_use(entry.reservation)
        });
        let is_named = |reservation: &Reservation| {
            reservation.replaces().is_some_and(|replaced| replaced.name == asker.pod.key.name)
        };
        usable
            .min_by_key(|(_, entry)| {
                let reservation = entry.reservation;
                (reservation.is_manual(), !is_named(reservation), age(reservation))
            })
            .map(|(index, _)| index)
    }
}

impl Room<'_, '_> {
    /// How much of `resource` is left for the pod; negative when the node has promised more than it has.
    pub fn free(&self, resource: &ResourceName) -> i64 {
        let left = self.allocatable.get(resource).saturating_sub(self.used.get(resource));
        left.saturating_sub(self.reserved.get(resource))
    }
}

fn entries<'w>(reservations: &[&'w Reservation], pods: &[Counted<'w>], now: Timestamp) -> Vec<Entry<'w>> {
    let live: Vec<&Reservation> = reservations.iter().copied().filter(|one| one.is_live(now)).collect();
    let occupied: Vec<bool> = live.iter().map(|reservation| is_occupied(reservation, pods)).collect();
    let mut takers = taken(&live, &occupied, pods).into_iter().zip(occupied);
    let entry = |reservation: &'w Reservation| {
        let empty = Resources::default();
        let new = |state, held, taken_by| Entry { reservation, state, held, taken_by };
        if !reservation.is_live(now) {
            return new(State::Expired, empty, None);
        }
        let (taker, occupied) = takers.next().unwrap_or_default();
        match taker.map(|index| pods[index].asker.pod) {
            _ if reservation.is_manual() => pooled(reservation, pods),
            _ if occupied => new(State::Occupied, empty, None),
            Some(pod) => new(State::Taken, empty, Some(pod)),
            None => new(State::Held, reservation.amount.clone(), None),
        }
    };
    reservations.iter().copied().map(entry).collect()
}

fn is_occupied(reservation: &Reservation, pods: &[Counted<'_>]) -> bool {
    let replaced = reservation.replaces();
    replaced.is_some_and(|replaced| pods.iter().any(|counted| counted.asker.pod.uid == replaced.uid))
}

/// The plain form: what the owner's pods on the node do not use of it yet.
fn pooled<'w>(reservation: &'w Reservation, pods: &[Counted<'w>]) -> Entry<'w> {
    let mut used = Resources::default();
    for counted in pods.iter().filter(|counted| counted.asker.may_use(reservation)) {
        used.add_assign(counted.asker.pod.spec.requests.counted());
    }
    let mut held = Resources::default();
    for (resource, amount) in reservation.amount.iter() {
        let left = amount.saturating_sub(used.get(&resource)).max(0);
        held.set(resource, left);
    }
    let state = if held.is_zero() { State::Occupied } else { State::Held };
    Entry { reservation, state, held, taken_by: None }
}

/// Marks the held entries whose node has promised more than it has, of something that they keep.
fn mark_short(entries: &mut [Entry<'_>], allocatable: &Resources, used: &Resources) {
    let mut promised = used.clone();
    entries.iter().for_each(|entry| promised.add_assign(&entry.held));
    for entry in entries.iter_mut().filter(|entry| entry.state == State::Held) {
        let is_over = |resource: &ResourceName| promised.get(resource) > allocatable.get(resource);
        if entry.held.iter().any(|(resource, _)| is_over(&resource)) {
            entry.state = State::Short;
        }
    }
}

impl State {
    /// The state in one word, as people see it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Occupied => "Occupied",
            Self::Held => "Held",
            Self::Taken => "Taken",
            Self::Short => "Short",
            Self::Expired => "Expired",
        }
    }
}
