//! After the faults: each daemon compares its state with a list of all nodes and pods, as it does every few minutes; and pods for
//! which no reservation can be made, because the record is too long or the owner cannot be read, have been told so by an event.

use super::actors::PORTS;
use super::api::STREAMS;
use super::foreign::Readable;
use super::sim::Sim;
use super::watches::{list_events, other_lists};
use crate::history::knowledge::valid_reservations;
use common::api::names;
use common::api::reservation::{INFO_LEN_MAX, encode};
use common::cluster::compare::{ListedObjects, Listing};
use common::cluster::{Cluster, Event, NotReservedReason, WatchEvent};
use common::model::{Pod, Reservation, Uid};
use daemon::state::{ComparisonCause, ComparisonResult, Input, Note};
use std::sync::Arc;

/// A record that is shorter than the limit by more than this fits at any time: its length depends on the time at which it is made.
const NEAR: usize = 64;

/// The length of a reservation's record.
fn length(reservation: &Reservation) -> usize {
    let written = encode(reservation).unwrap_or_default();
    written.iter().filter(|(key, _)| key.starts_with(names::INFO)).map(|(_, record)| record.len()).sum()
}

impl Sim {
    /// I10: each daemon compares its state with a list, and finds no difference.
    pub(super) fn check_comparison(&mut self) {
        for index in 0..self.daemons.len() {
            let (now, listing) = (self.daemons[index].now(self.api.now), self.listing());
            let state = &mut self.daemons[index].state;
            drop(state.take_notes());
            // The effects are dropped: this is the end of the simulation.
            drop(state.learn(Input::Compare(ComparisonCause::Signal), now));
            drop(state.learn(Input::Listed(Ok(Box::new(listing))), now));
            let compared = state.take_notes().into_iter().rev().find_map(|note| match note {
                Note::Compared(compared) => Some(compared),
                _ => None,
            });
            self.api.rules.counts.check("I10");
            if compared != Some(ComparisonResult::Equal) {
                let what = format!("daemon {index} compared its books: {compared:?}");
                return self.api.rules.break_("I10", &what);
            }
        }
    }

    /// All nodes, and all pods that have not ended.
    fn listing(&self) -> Listing {
        let (state, version) = (&self.api.state, self.api.revision);
        let nodes = state.nodes.values().map(|node| (**node).clone()).collect();
        let pods = state.pods.values().filter(|pod| !pod.is_ended());
        let pods = pods.map(|pod| (**pod).clone()).collect();
        Listing {
            nodes: ListedObjects { objects: nodes, version },
            pods: ListedObjects { objects: pods, version },
        }
    }

    /// I16: if no reservation can be made for a pod with `reserve/keep`, the daemon knows that before the deletion, and has written
    /// an event (checked only without faults, which could lose it).
    pub(super) fn check_warnings(&mut self) {
        let is_ported = |pod: &&Arc<Pod>| pod.is_counted() && !pod.spec.ports.is_empty() && !pod.deleting;
        let ported: Vec<Arc<Pod>> = self.api.state.pods.values().filter(is_ported).cloned().collect();
        if self.scenario.activities & PORTS != 0 && !ported.is_empty() {
            let mut cluster = self.fresh_cluster();
            for pod in ported {
                self.check_warning(&mut cluster, &pod);
            }
        }
        let is_denied = |one: &super::foreign::ForeignOwner| one.readable == Readable::Forbidden;
        let denied = self.scenario.foreign_owner.clone().filter(is_denied);
        let clones = self.api.state.pods.values().filter(|pod| pod.is_counted());
        let is_claimed = |uid: &Uid| {
            clones.clone().any(|pod| pod.controller.as_ref().is_some_and(|controller| controller.uid == *uid))
        };
        if denied.is_some_and(|denied| is_claimed(&denied.uid)) && self.faults.end.is_zero() {
            self.api.rules.counts.check("I16");
            if !self.api.events.iter().any(|event| event.reason == "OwnerUnreadable") {
                self.api.rules.break_("I16", "nobody was told that an owner cannot be read");
            }
        }
    }

    /// A cluster with all current objects.
    fn fresh_cluster(&self) -> Cluster {
        let mut cluster = Cluster::default();
        let lists = STREAMS.iter().flat_map(|stream| list_events(&self.api, *stream));
        other_lists().into_iter().chain(lists).for_each(|event| drop(cluster.apply(event)));
        cluster.advance(self.api.wall());
        cluster
    }

    /// Whether the pod's node has a reservation that replaces the pod.
    fn is_reserved(&self, pod: &Pod) -> bool {
        let node = pod.node.as_ref().and_then(|name| self.api.state.nodes.get(name));
        let mut kept = node.into_iter().flat_map(|node| valid_reservations(node));
        kept.any(|one| one.replaces().is_some_and(|replaced| replaced.uid == pod.uid))
    }

    /// What the daemon predicts for a pod must be what happens when the pod is deleted.
    fn check_warning(&mut self, cluster: &mut Cluster, pod: &Pod) {
        let said = cluster.record_too_long(pod);
        let leaving = Pod { deleting: true, ..pod.clone() };
        let (later, much_later) = (self.api.revision + 1, self.api.revision + 2);
        let deleted = Pod { resource_version: later, ..leaving.clone() };
        drop(cluster.apply(Event::Pods(WatchEvent::Applied(deleted))));
        let kept = cluster.automatic_reservation(&leaving, self.api.wall());
        let restored = Pod { resource_version: much_later, ..pod.clone() };
        drop(cluster.apply(Event::Pods(WatchEvent::Applied(restored))));
        let is_unwritable = match &kept {
            // The room is reserved already, with a shorter record: by hand, or because the pod itself asked. That reservation stays
            // when the pod is deleted.
            Ok(_) | Err(NotReservedReason::Unwritable(_)) if self.is_reserved(pod) => {
                return self.api.rules.counts.skip("I16");
            }
            Ok(_) => false,
            Err(NotReservedReason::Unwritable(_)) => true,
            // No reservation is made for another reason.
            Err(_) => return self.api.rules.counts.skip("I16"),
        };
        self.api.rules.counts.check("I16");
        let is_far = kept.as_ref().is_ok_and(|kept| length(kept) + NEAR < INFO_LEN_MAX);
        if said.is_none() && is_unwritable || said.is_some() && is_far {
            let what = format!("of {} it is said {said:?}, and when it is deleted {kept:?}", pod.key);
            return self.api.rules.break_("I16", &what);
        }
        let is_told =
            self.api.events.iter().any(|event| event.uid == pod.uid && event.reason == "NotReserved");
        if is_unwritable && !is_told && self.faults.end.is_zero() {
            let what = format!("{} has no place kept when it is deleted, and was not told", pod.key);
            self.api.rules.break_("I16", &what);
        }
    }
}
