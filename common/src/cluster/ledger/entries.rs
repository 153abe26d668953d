//! The reservations of one node with their states, computed from the node's annotations and its pods. Entry point: [`entries`];
//! [`super::Ledger`] keeps the result.
//!
//! The record says which seat the replaced pod had taken itself (`replaces.seat`). Once that pod is gone, the older seat was passed on: it
//! counts as taken. Otherwise a pod that is recreated twice in a row would leave two reservations for one room.

use crate::cluster::PodContext;
use crate::cluster::ledger::plain_form::{beyond_held_seats, unused_by_pods};
use crate::cluster::ledger::seat_assignment::assign_seats;
use crate::model::{Pod, Reservation, ResourceName, Resources};
use std::sync::Arc;

/// A reservation and what follows from the pods of its node.
#[derive(Clone, Debug)]
pub struct Entry {
    pub reservation: Arc<Reservation>,
    pub state: ReservationState,
    /// What is kept empty for the reservation now.
    pub held: Resources,
    /// Only for the plain form: the part of the amount that the owner's pods do not use. Held seats of the owner are part of it.
    pub(in crate::cluster) unused: Resources,
    pub taken_by: Option<Arc<Pod>>,
}

/// The state of a reservation. An *invalid* one has no entry in a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReservationState {
    /// The replaced pod is still on the node; for the plain form, the owner's pods use all of it.
    Occupied,
    Held,
    Taken,
    /// Held, but the node has less than all its pods and reservations together.
    Short,
    Expired,
}

/// The entry of each reservation, in the same order.
pub(super) fn entries(
    reservations: &[&Arc<Reservation>],
    pod_contexts: &[PodContext<'_>],
    pods: &[Arc<Pod>],
    is_live: impl Fn(&Reservation) -> bool,
) -> Vec<Entry> {
    let live: Vec<&Reservation> = reservations.iter().map(|one| &***one).filter(|one| is_live(one)).collect();
    let occupied: Vec<bool> = live.iter().map(|reservation| is_occupied(reservation, pods)).collect();
    // An heir that has expired counts, too: the room was passed on to it, so the older seat no longer has it.
    let has_heir = |one: &Reservation| reservations.iter().any(|other| is_heir(other, one));
    let take_last: Vec<bool> =
        live.iter().zip(&occupied).map(|(one, occupied)| *occupied || has_heir(one)).collect();
    let mut takers = assign_seats(&live, &take_last, pod_contexts).into_iter().zip(occupied);
    let entry = |reservation: &&Arc<Reservation>| {
        let reservation = Arc::clone(reservation);
        let (state, held, taken_by) = if is_live(&reservation) {
            let (taker, occupied) = takers.next().unwrap_or_default();
            match taker.map(|index| Arc::clone(&pods[index])) {
                _ if reservation.is_manual() || occupied => {
                    (ReservationState::Occupied, Resources::default(), None)
                }
                Some(pod) => (ReservationState::Taken, Resources::default(), Some(pod)),
                None if has_heir(&reservation) => (ReservationState::Taken, Resources::default(), None),
                None => (ReservationState::Held, reservation.amount.clone(), None),
            }
        } else {
            (ReservationState::Expired, Resources::default(), None)
        };
        Entry { reservation, state, held, unused: Resources::default(), taken_by }
    };
    let mut entries: Vec<Entry> = reservations.iter().map(entry).collect();
    for index in 0..entries.len() {
        let reservation = &entries[index].reservation;
        if reservation.is_manual() && is_live(reservation) {
            let unused = unused_by_pods(reservation, pod_contexts, &entries);
            let held = beyond_held_seats(&unused, reservation, &entries, |_| true);
            entries[index].state =
                if held.is_zero() { ReservationState::Occupied } else { ReservationState::Held };
            (entries[index].held, entries[index].unused) = (held, unused);
        }
    }
    entries
}

/// Whether `heir` is the reservation for the replacement of the pod that had taken `seat`: of the two only `heir` counts.
pub fn is_heir(heir: &Reservation, seat: &Reservation) -> bool {
    let had = heir.replaces().and_then(|replaced| replaced.seat.as_ref());
    had.is_some() && seat.id.seat.as_ref() == had && seat.id != heir.id && have_same_owner(seat, heir)
}

/// Whether both have the same owner. Bare pods are compared by name, since they come back with another UID.
fn have_same_owner(one: &Reservation, other: &Reservation) -> bool {
    let bare = |of: &Reservation| {
        let owner = &of.record()?.owner;
        (&*owner.kind == "Pod").then(|| (owner.namespace.clone(), owner.name.clone()))
    };
    one.id.owner == other.id.owner || (bare(one).is_some() && bare(one) == bare(other))
}

fn is_occupied(reservation: &Reservation, pods: &[Arc<Pod>]) -> bool {
    reservation.replaces().is_some_and(|replaced| pods.iter().any(|pod| pod.uid == replaced.uid))
}

/// Marks each held entry as short that keeps a resource of which the node has less than all pods and reservations together.
pub(super) fn mark_short(entries: &mut [Entry], allocatable: &Resources, used: &Resources) {
    let mut committed = used.clone();
    entries.iter().for_each(|entry| committed.add_assign(&entry.held));
    for entry in entries.iter_mut().filter(|entry| entry.state == ReservationState::Held) {
        let is_over = |resource: &ResourceName| committed.get(resource) > allocatable.get(resource);
        if entry.held.iter().any(|(resource, _)| is_over(&resource)) {
            entry.state = ReservationState::Short;
        }
    }
}

impl ReservationState {
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
