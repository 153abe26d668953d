//! After the faults: each daemon compares what it believes with everything that there is, as it does every few minutes when it
//! runs for real; and whoever is kept no place, because the record cannot be written or the owner not read, was told so.

use super::actors::PORTS;
use super::api::STREAMS;
use super::foreign::Readable;
use super::sim::Sim;
use super::watches::{listed, others};
use crate::history::past::valid;
use common::api::names;
use common::api::reservation::{INFO_LEN_MAX, encode};
use common::cluster::compare::{List, Listing};
use common::cluster::{Cluster, Event, NotKept, Seen};
use common::model::{Pod, Reservation, Uid};
use daemon::state::{Cause, Compared, Input, Note};
use std::sync::Arc;

/// A record that is shorter than the limit by so much fits at any time: the moment at which it is made is written down, too.
const NEAR: usize = 64;

/// How long the record of a reservation is.
fn length(reservation: &Reservation) -> usize {
    let written = encode(reservation).unwrap_or_default();
    written.iter().filter(|(key, _)| key.starts_with(names::INFO)).map(|(_, record)| record.len()).sum()
}

impl Sim {
    /// I10: each daemon does its books anew beside a list, and finds no difference.
    pub(super) fn compared(&mut self) {
        for index in 0..self.daemons.len() {
            let (now, listing) = (self.daemons[index].now(self.api.now), self.listing());
            let state = &mut self.daemons[index].state;
            drop(state.take_notes());
            // Nothing that follows is carried out: this is the end.
            drop(state.learn(Input::Compare(Cause::Signal), now));
            drop(state.learn(Input::Listed(Ok(Box::new(listing))), now));
            let compared = state.take_notes().into_iter().rev().find_map(|note| match note {
                Note::Compared(compared) => Some(compared),
                _ => None,
            });
            self.api.rules.counts.check("I10");
            if compared != Some(Compared::Equal) {
                let what = format!("daemon {index} compared its books: {compared:?}");
                return self.api.rules.break_("I10", &what);
            }
        }
    }

    /// All nodes, and all pods that have not ended.
    fn listing(&self) -> Listing {
        let (picture, version) = (&self.api.picture, self.api.revision);
        let nodes = picture.nodes.values().map(|node| (**node).clone()).collect();
        let pods = picture.pods.values().filter(|pod| !pod.is_ended());
        let pods = pods.map(|pod| (**pod).clone()).collect();
        Listing { nodes: List { objects: nodes, version }, pods: List { objects: pods, version } }
    }

    /// I16: who will be kept no place, although somebody wishes it, is known before, and was told where no word can be lost.
    pub(super) fn warned(&mut self) {
        let is_ported = |pod: &&Arc<Pod>| pod.is_counted() && !pod.spec.ports.is_empty() && !pod.deleting;
        let ported: Vec<Arc<Pod>> = self.api.picture.pods.values().filter(is_ported).cloned().collect();
        if self.scenario.deeds & PORTS != 0 && !ported.is_empty() {
            let mut cluster = self.books();
            for pod in ported {
                self.is_warned(&mut cluster, &pod);
            }
        }
        let is_denied = |one: &super::foreign::Unread| one.readable == Readable::Forbidden;
        let denied = self.scenario.unread.clone().filter(is_denied);
        let clones = self.api.picture.pods.values().filter(|pod| pod.is_counted());
        let is_claimed = |uid: &Uid| {
            clones.clone().any(|pod| pod.controller.as_ref().is_some_and(|controller| controller.uid == *uid))
        };
        if denied.is_some_and(|denied| is_claimed(&denied.uid)) && self.faults.end.is_zero() {
            self.api.rules.counts.check("I16");
            if !self.api.told.iter().any(|told| told.reason == "OwnerUnreadable") {
                self.api.rules.break_("I16", "nobody was told that an owner cannot be read");
            }
        }
    }

    /// Everything that there is, in books of its own.
    fn books(&self) -> Cluster {
        let mut cluster = Cluster::default();
        let lists = STREAMS.iter().flat_map(|stream| listed(&self.api, *stream));
        others().into_iter().chain(lists).for_each(|event| drop(cluster.apply(event)));
        cluster.advance(self.api.wall());
        cluster
    }

    /// Whether its node says that its place is kept.
    fn is_reserved(&self, pod: &Pod) -> bool {
        let node = pod.node.as_ref().and_then(|name| self.api.picture.nodes.get(name));
        let mut kept = node.into_iter().flat_map(|node| valid(node));
        kept.any(|one| one.replaces().is_some_and(|replaced| replaced.uid == pod.uid))
    }

    /// What is said of a pod while it is there is what comes of it when it is deleted.
    fn is_warned(&mut self, cluster: &mut Cluster, pod: &Pod) {
        let said = cluster.unprotected(pod);
        let leaving = Pod { deleting: true, ..pod.clone() };
        let (later, much_later) = (self.api.revision + 1, self.api.revision + 2);
        let deleted = Pod { resource_version: later, ..leaving.clone() };
        drop(cluster.apply(Event::Pods(Seen::Applied(deleted))));
        let kept = cluster.keep(&leaving, self.api.wall());
        let restored = Pod { resource_version: much_later, ..pod.clone() };
        drop(cluster.apply(Event::Pods(Seen::Applied(restored))));
        let is_unwritable = match &kept {
            // Somebody reserved it by hand, with a shorter record.
            Ok(_) if self.is_reserved(pod) => return self.api.rules.counts.skip("I16"),
            Ok(_) => false,
            Err(NotKept::Unwritable(_)) => true,
            // Something else is in the way.
            Err(_) => return self.api.rules.counts.skip("I16"),
        };
        self.api.rules.counts.check("I16");
        let is_far = kept.as_ref().is_ok_and(|kept| length(kept) + NEAR < INFO_LEN_MAX);
        if said.is_none() && is_unwritable || said.is_some() && is_far {
            let what = format!("of {} it is said {said:?}, and when it is deleted {kept:?}", pod.key);
            return self.api.rules.break_("I16", &what);
        }
        let is_told = self.api.told.iter().any(|told| told.uid == pod.uid && told.reason == "NotReserved");
        if is_unwritable && !is_told && self.faults.end.is_zero() {
            let what = format!("{} has no place kept when it is deleted, and was not told", pod.key);
            self.api.rules.break_("I16", &what);
        }
    }
}
