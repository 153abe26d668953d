//! What a daemon knew when it decided on something: everything that its watches had delivered by then, and what it had
//! decided on before. What breaks a rule in truth is excused only if it was right by books that are done anew on this.

use super::api::{Stream, Who};
use super::rules::{Rules, Sight, made};
use crate::history::past::{take_off, valid, with};
use crate::history::picture::Picture;
use crate::history::releases;
use common::cluster::{Event, Seen};
use common::model::{Node, NodeName, Pod, Reservation, ReservationId, Uid, Workload};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything that was stored, by kind, with its revision.
pub(super) type Logs = [Vec<(u64, Event)>; 4];

/// How things are in truth, and how they came to be.
#[derive(Clone, Copy)]
pub(super) struct Truth<'a> {
    pub(super) picture: &'a Picture,
    pub(super) logs: &'a Logs,
    pub(super) now: Timestamp,
}

/// How things were for a daemon when it decided on something.
pub(super) struct Then {
    pub(super) picture: Picture,
    /// When that was.
    pub(super) at: Timestamp,
}

impl Rules {
    /// A daemon has read the owner of a kind that nobody watches.
    pub(super) fn read_owner(&mut self, who: Who) {
        self.read.entry(who).or_insert(self.decisions);
    }

    /// The owner of a kind that nobody watches, if a daemon had read it before a decision.
    fn foreign_by(&self, who: Who, turn: usize) -> Option<&Workload> {
        self.foreign.as_ref().filter(|_| self.read.get(&who).is_some_and(|at| turn > *at))
    }

    /// Whether more than one daemon wrote a reservation.
    fn is_written_by_two(&self, node: &NodeName, id: &ReservationId) -> bool {
        self.writers.get(&(node.clone(), id.to_string())).is_some_and(|writers| writers.len() > 1)
    }

    /// How things were for a daemon when it decided on something; none if it never did.
    pub(super) fn as_seen(&self, truth: Truth<'_>, who: Who, on: &str) -> Option<Then> {
        let decision = self.decided.get(&(who, on.to_owned()))?;
        let mut picture = seen(truth.logs, decision.sight);
        if let Some(owner) = self.foreign_by(who, decision.turn) {
            picture.owners.put(owner, None);
        }
        let is_earlier = |turn: usize| turn > 0 && turn < decision.turn;
        let unseen = self.bound.iter().filter(|(_, one)| one.by == who && one.at > decision.sight.pods);
        let is_assumed = |uid: &Uid| {
            is_earlier(self.turn(who, &uid.to_string())) && !self.has_forgotten(who, uid, decision.turn)
        };
        for (uid, one) in unseen.filter(|(uid, _)| is_assumed(uid)) {
            picture.pods.insert(uid.clone(), Arc::clone(&one.pod));
        }
        for pod in self.under_way.iter().filter(|pod| is_earlier(self.turn(who, &pod.uid.to_string()))) {
            picture.pods.insert(pod.uid.clone(), Arc::new(pod.clone()));
        }
        for (name, node) in &truth.picture.nodes {
            let Some(known) = picture.nodes.get(name).filter(|known| known.uid == node.uid) else { continue };
            let own = valid(node).filter(|one| is_earlier(self.written(who, name, one)));
            let own = own.filter(|one| !self.is_of_two(truth.logs, name, &one.id, decision.sight.nodes));
            let own: Vec<&Arc<Reservation>> =
                own.filter(|one| !valid(known).any(|old| old == *one)).collect();
            if !own.is_empty() {
                let next = with(known, &own);
                picture.nodes.insert(name.clone(), Arc::new(next));
            }
        }
        Some(Then { picture, at: decision.at })
    }

    /// Whether two daemons wrote the same reservation, of which this one saw that it was there and that it is gone again: its own write
    /// may still be on its way, and it need not know that. With an election there is one who writes.
    fn is_of_two(&self, logs: &Logs, node: &NodeName, id: &ReservationId, sight: u64) -> bool {
        if self.is_elected || !self.is_written_by_two(node, id) {
            return false;
        }
        let seen = up_to(logs, Stream::Nodes, sight);
        let versions = seen.filter_map(|event| match event {
            Event::Nodes(Seen::Applied(version)) if version.name == *node => Some(version),
            _ => None,
        });
        let (mut was_there, mut is_there) = (false, false);
        for version in versions {
            is_there = valid(version).any(|one| one.id == *id);
            was_there |= is_there;
        }
        was_there && !is_there
    }

    /// The how many-th decision of a daemon it was to write a reservation as it is: what it made or extended itself it knows
    /// from that moment on.
    fn written(&self, who: Who, node: &NodeName, reservation: &Reservation) -> usize {
        let request = reservation.record().map_or("", |record| &record.request);
        self.turn(who, &made(&format!("{node}/{}", reservation.id), request))
    }

    /// The how many-th decision of all it was, if a daemon decided on it; else 0.
    pub(super) fn turn(&self, who: Who, on: &str) -> usize {
        self.decided.get(&(who, on.to_owned())).map_or(0, |decision| decision.turn)
    }

    /// How it was for the daemon when it decided, as far as its own decisions go: with what it had decided on before, whether
    /// or not that has landed, and without what it decided on later and was faster.
    pub(super) fn as_decided(&self, picture: &Picture, who: Who, pod: &Pod) -> Picture {
        let turn = |uid: &Uid| self.turn(who, &uid.to_string());
        let own = turn(&pod.uid);
        let mut then = picture.clone();
        then.pods.retain(|uid, _| self.bound.get(uid).is_none_or(|one| one.by != who) || turn(uid) <= own);
        for other in self.under_way.iter().filter(|other| turn(&other.uid) < own) {
            then.pods.insert(other.uid.clone(), Arc::new(other.clone()));
        }
        then
    }
}

/// What one knows who has seen this much.
fn seen(logs: &Logs, sight: Sight) -> Picture {
    let mut pods: BTreeMap<&Uid, &Pod> = BTreeMap::new();
    for event in up_to(logs, Stream::Pods, sight.pods) {
        match event {
            Event::Pods(Seen::Applied(pod)) => drop(pods.insert(&pod.uid, pod)),
            Event::Pods(Seen::Deleted(pod)) => drop(pods.remove(&pod.uid)),
            _ => {}
        }
    }
    let mut nodes: BTreeMap<&NodeName, &Node> = BTreeMap::new();
    for event in up_to(logs, Stream::Nodes, sight.nodes) {
        match event {
            Event::Nodes(Seen::Applied(node)) => drop(nodes.insert(&node.name, node)),
            Event::Nodes(Seen::Deleted(node)) => drop(nodes.remove(&node.name)),
            _ => {}
        }
    }
    let mut picture = Picture {
        pods: pods.into_iter().map(|(uid, pod)| (uid.clone(), Arc::new(pod.clone()))).collect(),
        nodes: nodes.into_iter().map(|(name, node)| (name.clone(), Arc::new(node.clone()))).collect(),
        ..Picture::default()
    };
    for event in up_to(logs, Stream::Workloads, sight.owners) {
        match event {
            Event::Workloads(_, Seen::Applied(workload)) => picture.owners.put(workload, None),
            Event::Workloads(_, Seen::Deleted(workload)) => {
                picture.owners.put(workload, Some(Timestamp::UNIX_EPOCH));
            }
            _ => {}
        }
    }
    picture
}

fn up_to(logs: &Logs, stream: Stream, revision: u64) -> impl Iterator<Item = &Event> {
    let log = &logs[stream as usize];
    let end = log.partition_point(|(at, _)| *at <= revision);
    log[..end].iter().map(|(_, event)| event)
}

/// Takes the reservations off a node that the daemon itself was writing when it decided on `pod` and that are no harm: one is
/// for the pod's own owner, of which a pod left before the seat that it took was released, so that there are two; or its owner
/// lacks fewer pods, as far as the daemon knows. Either way it goes once the daemon has seen what it wrote.
pub(super) fn without_idle(then: &mut Then, logs: &Logs, pod: &Pod, sight: u64) {
    let Some(name) = pod.node.as_ref() else { return };
    let Some(node) = then.picture.nodes.get(name).cloned() else { return };
    let before = up_to(logs, Stream::Nodes, sight).filter_map(|event| match event {
        Event::Nodes(Seen::Applied(node)) if node.name == *name => Some(node),
        _ => None,
    });
    let before: Vec<&ReservationId> = before.last().into_iter().flat_map(valid).map(|one| &one.id).collect();
    for one in valid(&node).filter(|one| !before.contains(&&one.id)) {
        let owner = &one.id.owner;
        let short = releases::short(&then.picture, owner);
        let is_surplus =
            short.is_some_and(|short| releases::kept(&then.picture, owner, then.at) > short.max(0));
        if is_surplus || then.picture.owners.owns(owner, pod, None) {
            take_off(&mut then.picture, name, &one.id);
        }
    }
}
