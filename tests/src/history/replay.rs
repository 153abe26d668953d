//! Goes through a history revision by revision, and asks each rule at the moments that it is about.

use super::owners;
use super::patches::is_of_command;
use super::picture::Picture;
use super::{
    History, Rules, Version, Violation, What, evictions, releases, requested_uid, room, seats, waiting,
};
use crate::control_plane::Write;
use common::model::ids::NodeName;
use common::model::{Node, Pod, Reservation, Uid};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is so at one revision, and what was found on the way there.
pub(super) struct Replay<'h> {
    pub(super) history: &'h History,
    pub(super) rules: &'h Rules,
    pub(super) picture: Picture,
    /// Since when each reservation is there.
    pub(super) since: BTreeMap<(NodeName, String), Kept>,
    /// When each replaced pod was gone.
    pub(super) gone: BTreeMap<Uid, Timestamp>,
    /// When others last took room of a node, or changed what it has.
    pub(super) foreign: BTreeMap<NodeName, Timestamp>,
    /// When somebody who is none of us removed the reservation for a pod.
    pub(super) taken_away: BTreeMap<Uid, Timestamp>,
    /// When each top owner last wanted more, or lost a pod.
    pub(super) stirred: BTreeMap<Uid, Timestamp>,
    bindings: BTreeMap<Uid, &'h Write>,
    node_writes: BTreeMap<u64, &'h Write>,
    pub(super) violations: Vec<Violation>,
}

/// A reservation that is on a node.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// The revision from which on.
    pub(super) revision: u64,
    /// As it is now.
    pub(super) reservation: Arc<Reservation>,
}

impl<'h> Replay<'h> {
    pub(super) fn new(history: &'h History, rules: &'h Rules) -> Self {
        let stored = || history.writes.iter().filter(|write| write.is_stored());
        let bindings = stored().filter(|write| write.resource == "pods/binding");
        let nodes = stored().filter(|write| write.resource.split('/').next() == Some("nodes"));
        let revision = |write: &Write| write.resource_version_after.as_ref()?.parse().ok();
        Self {
            history,
            rules,
            picture: Picture::default(),
            since: BTreeMap::new(),
            gone: BTreeMap::new(),
            foreign: BTreeMap::new(),
            taken_away: BTreeMap::new(),
            stirred: BTreeMap::new(),
            bindings: bindings.filter_map(|write| Some((requested_uid(write)?, write))).collect(),
            node_writes: nodes.filter_map(|write| Some((revision(write)?, write))).collect(),
            violations: Vec::new(),
        }
    }

    /// Everything that was found.
    pub(super) fn run(mut self) -> Vec<Violation> {
        let mut versions: Vec<&Version> = self.history.versions.iter().collect();
        versions.sort_by_key(|version| version.revision);
        let changes = owners::changes(self.history);
        let mut changes = changes.iter().peekable();
        for version in versions {
            while let Some(change) = changes.next_if(|change| change.revision <= version.revision) {
                if let Some(uid) = self.picture.owners.apply(change) {
                    self.stirred.insert(uid, change.at);
                }
            }
            self.step(version);
        }
        changes.for_each(|change| drop(self.picture.owners.apply(change)));
        releases::at_end(&mut self);
        if self.rules.is_calm {
            waiting::at_end(&mut self);
        }
        self.violations
    }

    fn step(&mut self, version: &Version) {
        match &version.what {
            What::Pod(pod) => self.pod(version, pod),
            What::PodGone(pod) => {
                self.stir(pod, version.at);
                self.picture.pods.remove(&pod.uid);
                self.gone.insert(pod.uid.clone(), version.at);
            }
            What::Node(node, _) => self.node(version, node),
            What::NodeGone(node) => {
                self.picture.nodes.remove(&node.name);
                self.foreign.insert(node.name.clone(), version.at);
                let lost = self.since.iter().filter(|((on, _), _)| *on == node.name);
                let replaced = lost.filter_map(|(_, kept)| kept.reservation.replaces());
                self.taken_away.extend(replaced.map(|replaced| (replaced.uid.clone(), version.at)));
                self.since.retain(|(on, _), _| *on != node.name);
            }
        }
    }

    fn pod(&mut self, version: &Version, pod: &Arc<Pod>) {
        let before = self.picture.pods.insert(pod.uid.clone(), Arc::clone(pod));
        let was = |test: fn(&Pod) -> bool| before.as_deref().is_some_and(test);
        if pod.deleting && !was(|pod| pod.deleting) {
            self.stir(pod, version.at);
            evictions::check(self, version, pod);
        }
        if pod.is_ended() && !was(Pod::is_ended) {
            self.stir(pod, version.at);
            self.gone.insert(pod.uid.clone(), version.at);
        }
        let Some(node) = pod.node.clone().filter(|_| before.as_ref().is_none_or(|pod| pod.node.is_none()))
        else {
            return;
        };
        match self.bindings.get(&pod.uid).copied().filter(|write| self.is_ours(&write.user)) {
            Some(write) => {
                room::check(self, version.revision, pod, write);
                seats::check(self, version.revision, pod, before.as_deref(), write);
                if self.rules.contended.contains(node.as_str()) {
                    self.foreign.insert(node, version.at);
                }
            }
            None => drop(self.foreign.insert(node, version.at)),
        }
    }

    fn node(&mut self, version: &Version, node: &Arc<Node>) {
        let before = self.picture.nodes.insert(node.name.clone(), Arc::clone(node));
        let writer = self.node_writes.get(&version.revision).copied();
        let is_ours = writer.is_some_and(|write| self.is_ours(&write.user));
        let differs = before.as_ref().is_none_or(|before| {
            (&before.uid, &before.allocatable, &before.reservations)
                != (&node.uid, &node.allocatable, &node.reservations)
        });
        if differs && !is_ours {
            self.foreign.insert(node.name.clone(), version.at);
        }
        if before.is_some_and(|before| before.uid != node.uid) {
            self.since.retain(|(on, _), _| *on != node.name);
        }
        if differs {
            let is_foreign = !writer.is_some_and(|write| self.is_ours(&write.user) || is_of_command(write));
            releases::check(self, version, node, (is_ours, is_foreign));
        }
    }

    /// Whether `user` is a daemon of ours.
    pub(super) fn is_ours(&self, user: &str) -> bool {
        self.rules.daemons.contains(user)
    }

    /// Whether somebody else may have altered a node too late for us to heed it.
    pub(super) fn is_excused(&self, node: &NodeName, decided: Timestamp) -> bool {
        self.foreign.get(node).is_some_and(|at| *at > decided - self.rules.unseen())
    }

    /// The owner of `pod` is short of one more than before.
    fn stir(&mut self, pod: &Pod, at: Timestamp) {
        let chain: Vec<Uid> = self.picture.owners.chain(pod).iter().map(|(uid, _)| (*uid).clone()).collect();
        self.stirred.extend(chain.into_iter().map(|uid| (uid, at)));
    }
}
