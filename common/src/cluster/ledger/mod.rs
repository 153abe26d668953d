//! The ledger of one node: its pods, what they request, its reservations and their states, and the room for a given pod.
//!
//! Each live reservation is counted exactly once: as the replaced pod while that is on the node, then as held room, then as
//! the replacement that took it. A reservation that has expired is not counted. No state is stored: [`Ledger::recompute_entries`]
//! derives all states from the node, the pods and the time, so the switch happens in the update that moves the pods.
//!
//! A ledger does not check that everything fits: people can reserve more than a node has.

pub mod eligibility;
mod entries;
pub(in crate::cluster) mod plain_form;
pub(in crate::cluster) mod seat_assignment;

pub use entries::{Entry, ReservationState, is_heir};

use crate::cluster::ledger::plain_form::held_from;
use crate::cluster::ledger::seat_assignment::age;
use crate::cluster::reservations::pending_writes::{LocalExtension, LocalReservation};
use crate::cluster::{NodeId, Owners, PodAffinityCounts, PodContext};
use crate::model::{Node, NonZeroRequests, Pod, Reservation, ReservationId, ResourceName, Resources, Uid};
use entries::{entries, mark_short};
use jiff::Timestamp;
use std::borrow::Cow;
use std::sync::Arc;

/// The accounts of one node.
#[derive(Clone, Debug)]
pub struct Ledger {
    pub id: NodeId,
    pub node: Arc<Node>,
    /// The pods that are counted on the node: bound there, or assumed.
    pub pods: Vec<Arc<Pod>>,
    /// The sum of their requests, including one pod slot each.
    pub used: Resources,
    /// The same sum as scores use it: a container without requests counts with a default.
    pub used_non_zero: NonZeroRequests,
    /// The lowest priority of the pods; `i32::MAX` without pods.
    pub lowest_priority: i32,
    /// How many pods have the lowest priority.
    lowest_count: u32,
    /// How many pods have affinity terms about other pods.
    pub pod_affinity: PodAffinityCounts,
    /// The valid reservations of the node, sorted by key.
    pub entries: Vec<Entry>,
    /// Reservations that are about to be written into the node's annotations.
    pub(in crate::cluster) local_reservations: Vec<LocalReservation>,
    /// Extensions that are about to be written into the node's annotations.
    pub(in crate::cluster) local_extensions: Vec<LocalExtension>,
}

#[derive(Debug)]
pub struct Room<'l> {
    pub allocatable: &'l Resources,
    pub used: &'l Resources,
    pub reserved: Resources,
    /// The reservations that keep room from the pod, each with its amount.
    pub kept: Vec<(&'l Entry, Cow<'l, Resources>)>,
    pub own: Option<&'l ReservationId>,
}

impl Ledger {
    /// The ledger of a node without pods, before its reservations are computed.
    pub fn new(id: NodeId, node: Arc<Node>) -> Self {
        Self {
            id,
            node,
            pods: Vec::new(),
            used: Resources::default(),
            used_non_zero: NonZeroRequests::default(),
            lowest_priority: i32::MAX,
            lowest_count: 0,
            pod_affinity: PodAffinityCounts::default(),
            entries: Vec::new(),
            local_reservations: Vec::new(),
            local_extensions: Vec::new(),
        }
    }

    pub fn add(&mut self, pod: Arc<Pod>) {
        self.count(&pod);
        self.pods.push(pod);
        self.check();
    }

    /// Removes the pod with this UID; the last one, if there are several.
    pub fn remove(&mut self, uid: &Uid) -> Option<Arc<Pod>> {
        let index = self.pods.iter().rposition(|pod| pod.uid == *uid)?;
        Some(self.take(index))
    }

    /// Puts the pods into the order of `uids`; pods that are not in `uids` come last.
    pub(in crate::cluster) fn arrange(&mut self, uids: &[Uid]) {
        self.pods.sort_by_key(|pod| uids.iter().position(|uid| *uid == pod.uid).unwrap_or(usize::MAX));
    }

    /// Removes exactly this allocation of the pod, or else a pod with its UID.
    pub(in crate::cluster) fn remove_same(&mut self, pod: &Arc<Pod>) {
        // Comparing addresses does not load each pod from memory.
        match self.pods.iter().rposition(|known| Arc::ptr_eq(known, pod)) {
            Some(index) => drop(self.take(index)),
            None => drop(self.remove(&pod.uid)),
        }
    }

    fn take(&mut self, index: usize) -> Arc<Pod> {
        let pod = self.pods.remove(index);
        let requests = &pod.spec.requests;
        // Subtracting from a saturated sum would give a wrong result.
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

    /// The room for `context` on this node: everything that is neither used nor kept for others.
    pub fn room_for<'l>(&'l self, context: &PodContext<'_>) -> Room<'l> {
        let own = self.own_entry(context);
        let mut reserved = Resources::default();
        let mut kept = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            if own == Some(index) || entry.is_empty() || context.outranks(&entry.reservation, self) {
                continue;
            }
            let held = held_from(context, entry, self);
            if !held.is_zero() {
                reserved.add_assign(&held);
                kept.push((entry, held));
            }
        }
        let own = own.map(|index| &self.entries[index].reservation.id);
        Room { allocatable: &self.node.allocatable, used: &self.used, reserved, kept, own }
    }

    /// Computes the reservations and their states anew.
    pub(in crate::cluster) fn recompute_entries(&mut self, owners: &Owners, now: Timestamp) {
        self.forget_unwritten(now);
        let has_local = !self.local_reservations.is_empty() || !self.local_extensions.is_empty();
        if self.node.reservations.is_empty() && !has_local {
            self.entries.clear();
            return;
        }
        let pod_contexts: Vec<PodContext<'_>> =
            self.pods.iter().map(|pod| PodContext::new(pod, owners)).collect();
        let mut reservations: Vec<&Arc<Reservation>> =
            self.counted_durably().chain(self.counted_locally(now)).collect();
        if has_local {
            reservations.sort_by(|one, other| one.id.cmp(&other.id));
        }
        let is_live =
            |one: &Reservation| one.is_live(now) || self.local_extensions.iter().any(|more| more.is_of(one));
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
        let entries = std::mem::take(&mut self.entries);
        let local_reservations = std::mem::take(&mut self.local_reservations);
        let local_extensions = std::mem::take(&mut self.local_extensions);
        let empty = Self::new(self.id, Arc::clone(&self.node));
        *self = Self { entries, local_reservations, local_extensions, ..empty };
        pods.iter().for_each(|pod| self.count(pod));
        self.pods = pods;
    }

    /// In debug builds, compares the sums with sums that are computed anew. Every function that changes pods calls this.
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

    /// The index of the entry that `context` would take: the one that replaces a pod of its name, else the oldest that it may
    /// use. A seat goes before the plain form, which other pods of the owner can share.
    fn own_entry(&self, context: &PodContext<'_>) -> Option<usize> {
        let usable = self.entries.iter().enumerate().filter(|(_, entry)| {
            matches!(entry.state, ReservationState::Held | ReservationState::Short)
                && context.may_use(&entry.reservation)
        });
        let is_named = |reservation: &Reservation| {
            reservation.replaces().is_some_and(|replaced| replaced.name == context.pod.key.name)
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
    /// How much of `resource` is free for the pod; negative when more is used and reserved than the node has.
    pub fn free(&self, resource: &ResourceName) -> i64 {
        let left = self.allocatable.get(resource).saturating_sub(self.used.get(resource));
        left.saturating_sub(self.reserved.get(resource))
    }
}
