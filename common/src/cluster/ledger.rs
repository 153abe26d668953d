//! The books of one node: what is used, what is kept for whom, what is left for a given pod.
//!
//! Each reservation is counted exactly once: as the replaced pod while that is still there, as held room after
//! that, as the replacement once it is bound; and not at all when it is no longer live. The switch happens in the
//! same state update, because a state is never carried on: it all follows from node, pods and time.
//!
//! The books say what is so, never that it fits: people can promise more than a node has.

use super::Owners;
use super::eligibility::PodContext;
use super::nodes::NodeId;
use super::pending_writes::{Extended, Local};
use super::pod_affinity_counts::PodAffinityCounts;
use super::pooled::{held_from, left, pool};
use super::seat_assignment::{age, taken};
use crate::model::requests::NonZero;
use crate::model::reservation::{Reservation, ReservationId};
use crate::model::{Node, Pod, ResourceName, Resources, Uid};
use jiff::Timestamp;
use std::borrow::Cow;
use std::sync::Arc;

/// The books of one node.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// The node's place.
    pub id: NodeId,
    /// The node.
    pub node: Arc<Node>,
    /// The pods that take room on it: bound there, or assumed.
    pub pods: Vec<Arc<Pod>>,
    /// What they have asked for, one slot each.
    pub used: Resources,
    /// The same as scores see it, where a container that asks for nothing counts as a little.
    pub used_non_zero: NonZero,
    /// The lowest priority among them; the highest there is if there are none.
    pub lowest_priority: i32,
    /// How many of them have it.
    lowest_count: u32,
    /// How many of them mind who else is near.
    pub pod_affinity: PodAffinityCounts,
    /// Its well-formed reservations, sorted by key.
    pub entries: Vec<Entry>,
    /// Reservations that the node does not say yet, but is going to.
    pub(super) local: Vec<Local>,
    /// Reservations that live longer than the node says yet.
    pub(super) extended: Vec<Extended>,
}

/// A reservation in the books.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The reservation.
    pub reservation: Arc<Reservation>,
    /// What has become of it.
    pub state: State,
    /// What is kept empty for it now.
    pub held: Resources,
    /// Of the plain form: what its owner's pods leave of it, of which seats that are held take their part.
    pub(super) pool: Resources,
    /// The pod that took it.
    pub taken_by: Option<Arc<Pod>>,
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

/// What a node has for one pod.
#[derive(Debug)]
pub struct Room<'l> {
    /// What the node has for pods.
    pub allocatable: &'l Resources,
    /// What pods on it have asked for.
    pub used: &'l Resources,
    /// What is kept for others.
    pub reserved: Resources,
    /// For whom it is kept, and how much.
    pub kept: Vec<(&'l Entry, Cow<'l, Resources>)>,
    /// The reservation that the pod would take.
    pub own: Option<&'l ReservationId>,
}

impl Ledger {
    /// The books of a node without pods, before its reservations are looked at.
    pub fn new(id: NodeId, node: Arc<Node>) -> Self {
        Self {
            id,
            node,
            pods: Vec::new(),
            used: Resources::default(),
            used_non_zero: NonZero::default(),
            lowest_priority: i32::MAX,
            lowest_count: 0,
            pod_affinity: PodAffinityCounts::default(),
            entries: Vec::new(),
            local: Vec::new(),
            extended: Vec::new(),
        }
    }

    /// A pod takes room.
    pub fn add(&mut self, pod: Arc<Pod>) {
        self.count(&pod);
        self.pods.push(pod);
        self.check();
    }

    /// A pod leaves; the last of that UID, if there are several.
    pub fn remove(&mut self, uid: &Uid) -> Option<Arc<Pod>> {
        let index = self.pods.iter().rposition(|pod| pod.uid == *uid)?;
        Some(self.take(index))
    }

    /// Puts the pods into the order in which `uids` has them; any other comes last.
    pub(super) fn arrange(&mut self, uids: &[Uid]) {
        self.pods.sort_by_key(|pod| uids.iter().position(|uid| *uid == pod.uid).unwrap_or(usize::MAX));
    }

    /// This very pod leaves; or the one of its UID, if it is there otherwise.
    pub(super) fn leave(&mut self, pod: &Arc<Pod>) {
        // Pods are all over the memory, and only their addresses are here.
        match self.pods.iter().rposition(|known| Arc::ptr_eq(known, pod)) {
            Some(index) => drop(self.take(index)),
            None => drop(self.remove(&pod.uid)),
        }
    }

    fn take(&mut self, index: usize) -> Arc<Pod> {
        let pod = self.pods.remove(index);
        let requests = &pod.spec.requests;
        // A sum that ran against the end of the numbers cannot be taken apart again.
        let is_over = self.used.is_saturated() || self.used_non_zero.is_saturated();
        let is_last = self.lowest_priority == pod.spec.priority && self.lowest_count == 1;
        if is_over || is_last {
            self.recount();
        } else {
            self.lowest_count -= u32::from(self.lowest_priority == pod.spec.priority);
            self.used.sub_assign(requests.counted());
            self.used_non_zero.cpu -= requests.non_zero_counted.cpu;
            self.used_non_zero.memory -= requests.non_zero_counted.memory;
            self.pod_affinity = self.pod_affinity.without(PodAffinityCounts::of(&pod));
        }
        self.check();
        pod
    }

    /// The room that `pod_context` finds here: everything that is neither used nor kept for others.
    pub fn room_for<'l>(&'l self, pod_context: &PodContext<'_>) -> Room<'l> {
        let own = self.own(pod_context);
        let mut reserved = Resources::default();
        let mut kept = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            if own == Some(index) || entry.is_empty() || pod_context.outranks(&entry.reservation, self) {
                continue;
            }
            let held = held_from(pod_context, entry, self);
            if !held.is_zero() {
                reserved.add_assign(&held);
                kept.push((entry, held));
            }
        }
        let own = own.map(|index| &self.entries[index].reservation.id);
        Room { allocatable: &self.node.allocatable, used: &self.used, reserved, kept, own }
    }

    /// Does the books of the reservations.
    pub(super) fn settle(&mut self, owners: &Owners, now: Timestamp) {
        self.forget_unwritten(now);
        if self.node.reservations.is_empty() && self.local.is_empty() {
            self.entries.clear();
            return;
        }
        let pod_contexts: Vec<PodContext<'_>> =
            self.pods.iter().map(|pod| PodContext::new(pod, owners)).collect();
        let mut reservations: Vec<&Arc<Reservation>> =
            self.counted_durably().chain(self.counted_locally(now)).collect();
        if !self.local.is_empty() {
            reservations.sort_by(|one, other| one.id.cmp(&other.id));
        }
        let is_live =
            |one: &Reservation| one.is_live(now) || self.extended.iter().any(|more| more.is_of(one));
        self.entries = entries(&reservations, &pod_contexts, &self.pods, is_live);
        mark_short(&mut self.entries, &self.node.allocatable, &self.used);
    }

    fn count(&mut self, pod: &Pod) {
        let requests = &pod.spec.requests;
        self.used.add_assign(requests.counted());
        let (sum, counts) = (&mut self.used_non_zero, requests.non_zero_counted);
        sum.cpu = sum.cpu.saturating_add(counts.cpu);
        sum.memory = sum.memory.saturating_add(counts.memory);
        match pod.spec.priority {
            priority if self.lowest_count == 0 || priority < self.lowest_priority => {
                (self.lowest_priority, self.lowest_count) = (priority, 1);
            }
            priority => self.lowest_count += u32::from(priority == self.lowest_priority),
        }
        self.pod_affinity = self.pod_affinity.with(PodAffinityCounts::of(pod));
    }

    fn recount(&mut self) {
        let pods = std::mem::take(&mut self.pods);
        let (entries, local) = (std::mem::take(&mut self.entries), std::mem::take(&mut self.local));
        let extended = std::mem::take(&mut self.extended);
        *self = Self { entries, local, extended, ..Self::new(self.id, Arc::clone(&self.node)) };
        pods.iter().for_each(|pod| self.count(pod));
        self.pods = pods;
    }

    /// The sums are what they are sums of. Whatever changes a ledger ends here.
    fn check(&self) {
        if cfg!(debug_assertions) {
            let mut again = self.clone();
            again.recount();
            let sums = |ledger: &Self| {
                let lowest = (ledger.lowest_priority, ledger.lowest_count);
                (ledger.used.clone(), ledger.used_non_zero, lowest, ledger.pod_affinity)
            };
            debug_assert_eq!(sums(self), sums(&again), "the books of {} are wrong", self.node.name);
        }
    }

    /// The entry that `pod_context` would take: the one made for a pod of its name, else the oldest that it may use. A
    /// seat goes before the plain form, which stays for others to share.
    fn own(&self, pod_context: &PodContext<'_>) -> Option<usize> {
        let usable = self.entries.iter().enumerate().filter(|(_, entry)| {
            matches!(entry.state, State::Held | State::Short) && pod_context.may_use(&entry.reservation)
        });
        let is_named = |reservation: &Reservation| {
            reservation.replaces().is_some_and(|replaced| replaced.name == pod_context.pod.key.name)
        };
        usable
            .min_by_key(|(_, entry)| {
                let reservation = &*entry.reservation;
                (reservation.is_manual(), !is_named(reservation), age(reservation))
            })
            .map(|(index, _)| index)
    }
}

impl Room<'_> {
    /// How much of `resource` is left for the pod; negative when the node has promised more than it has.
    pub fn free(&self, resource: &ResourceName) -> i64 {
        let left = self.allocatable.get(resource).saturating_sub(self.used.get(resource));
        left.saturating_sub(self.reserved.get(resource))
    }
}

fn entries(
    reservations: &[&Arc<Reservation>],
    pod_contexts: &[PodContext<'_>],
    pods: &[Arc<Pod>],
    is_live: impl Fn(&Reservation) -> bool,
) -> Vec<Entry> {
    let live: Vec<&Reservation> = reservations.iter().map(|one| &***one).filter(|one| is_live(one)).collect();
    let occupied: Vec<bool> = live.iter().map(|reservation| is_occupied(reservation, pods)).collect();
    // Also one whose time is over: the place had been its, so that nobody has it now.
    let is_passed_on = |one: &Reservation| reservations.iter().any(|other| is_heir(other, one));
    let closed: Vec<bool> =
        live.iter().zip(&occupied).map(|(one, occupied)| *occupied || is_passed_on(one)).collect();
    let mut takers = taken(&live, &closed, pod_contexts).into_iter().zip(occupied);
    let entry = |reservation: &&Arc<Reservation>| {
        let reservation = Arc::clone(reservation);
        let (state, held, taken_by) = if is_live(&reservation) {
            let (taker, occupied) = takers.next().unwrap_or_default();
            match taker.map(|index| Arc::clone(&pods[index])) {
                _ if reservation.is_manual() || occupied => (State::Occupied, Resources::default(), None),
                Some(pod) => (State::Taken, Resources::default(), Some(pod)),
                None if is_passed_on(&reservation) => (State::Taken, Resources::default(), None),
                None => (State::Held, reservation.amount.clone(), None),
            }
        } else {
            (State::Expired, Resources::default(), None)
        };
        Entry { reservation, state, held, pool: Resources::default(), taken_by }
    };
    let mut entries: Vec<Entry> = reservations.iter().map(entry).collect();
    for index in 0..entries.len() {
        let reservation = &entries[index].reservation;
        if reservation.is_manual() && is_live(reservation) {
            let pool = pool(reservation, pod_contexts);
            let held = left(&pool, reservation, &entries, |_| true);
            entries[index].state = if held.is_zero() { State::Occupied } else { State::Held };
            (entries[index].held, entries[index].pool) = (held, pool);
        }
    }
    entries
}

/// Whether `heir` keeps the place of the pod that had taken `seat`: of the two only `heir` counts.
pub fn is_heir(heir: &Reservation, seat: &Reservation) -> bool {
    let had = heir.replaces().and_then(|replaced| replaced.seat.as_ref());
    had.is_some() && seat.id.seat.as_ref() == had && seat.id != heir.id && is_of_same(seat, heir)
}

/// Whether both are for the same owner; of a bare pod that is its name, since it comes back with another UID.
fn is_of_same(one: &Reservation, other: &Reservation) -> bool {
    let bare = |of: &Reservation| {
        let owner = &of.record()?.owner;
        (&*owner.kind == "Pod").then(|| (owner.namespace.clone(), owner.name.clone()))
    };
    one.id.owner == other.id.owner || (bare(one).is_some() && bare(one) == bare(other))
}

fn is_occupied(reservation: &Reservation, pods: &[Arc<Pod>]) -> bool {
    reservation.replaces().is_some_and(|replaced| pods.iter().any(|pod| pod.uid == replaced.uid))
}

/// Marks the held entries whose node has promised more than it has, of something that they keep.
fn mark_short(entries: &mut [Entry], allocatable: &Resources, used: &Resources) {
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
