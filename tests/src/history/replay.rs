//! Goes through a history revision by revision, and asks each rule at the moments that it is about.

use super::owners;
use super::patches::is_of_command;
use super::picture::Picture;
use super::{
    Counts, History, Rules, Version, Violation, What, evictions, releases, requested_uid, room, seats,
    waiting,
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
    /// When somebody who is none of us removed the reservation for a pod.
    pub(super) taken_away: BTreeMap<Uid, Timestamp>,
    /// Everything that was stored, in its order.
    pub(super) versions: Vec<&'h Version>,
    /// What became of workloads, in its order.
    pub(super) changes: Vec<owners::Change>,
    pub(super) bindings: BTreeMap<Uid, Stored<'h>>,
    pub(super) node_writes: BTreeMap<u64, Stored<'h>>,
    pub(super) violations: Vec<Violation>,
    pub(super) counts: Counts,
}

/// A write that was stored, and its place among all writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored<'h> {
    pub(super) index: usize,
    pub(super) write: &'h Write,
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
        let all = || history.writes.iter().enumerate().map(|(index, write)| Stored { index, write });
        let stored = || all().filter(|stored| stored.write.is_stored());
        let bindings = stored().filter(|stored| stored.write.resource == "pods/binding");
        let nodes = stored().filter(|stored| stored.write.resource.split('/').next() == Some("nodes"));
        let mut versions: Vec<&Version> = history.versions.iter().collect();
        versions.sort_by_key(|version| version.revision);
        let revision = |write: &Write| write.resource_version_after.as_ref()?.parse().ok();
        Self {
            history,
            rules,
            picture: Picture::default(),
            since: BTreeMap::new(),
            gone: BTreeMap::new(),
            taken_away: BTreeMap::new(),
            versions,
            changes: owners::changes(history),
            bindings: bindings.filter_map(|one| Some((requested_uid(one.write)?, one))).collect(),
            node_writes: nodes.filter_map(|one| Some((revision(one.write)?, one))).collect(),
            violations: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Everything that was found.
    pub(super) fn run(mut self) -> (Vec<Violation>, Counts) {
        let mut applied = 0;
        for index in 0..self.versions.len() {
            let version = self.versions[index];
            applied = self.learn_owners(applied, version.revision);
            self.step(version);
        }
        self.learn_owners(applied, u64::MAX);
        releases::at_end(&mut self);
        if self.rules.is_calm {
            waiting::at_end(&mut self);
        }
        (self.violations, self.counts)
    }

    /// Learns what became of workloads up to a revision, after so many changes; how many changes that makes.
    fn learn_owners(&mut self, applied: usize, revision: u64) -> usize {
        let more = self.changes[applied..].iter().take_while(|change| change.revision <= revision);
        let mut count = applied;
        for change in more {
            self.picture.owners.apply(change);
            count += 1;
        }
        count
    }

    fn step(&mut self, version: &Version) {
        match &version.what {
            What::Pod(pod) => self.pod(version, pod),
            What::PodGone(pod) => {
                self.picture.pods.remove(&pod.uid);
                self.gone.insert(pod.uid.clone(), version.at);
            }
            What::Node(node, _) => self.node(version, node),
            What::NodeGone(node) => {
                self.picture.nodes.remove(&node.name);
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
            evictions::check(self, version, pod);
        }
        if pod.is_ended() && !was(Pod::is_ended) {
            self.gone.insert(pod.uid.clone(), version.at);
        }
        let is_bound = pod.node.is_some() && before.as_ref().is_none_or(|pod| pod.node.is_none());
        let binding = self.bindings.get(&pod.uid).copied().filter(|one| self.is_ours(&one.write.user));
        if let Some(binding) = binding.filter(|_| is_bound) {
            room::check(self, version.revision, pod, binding);
            seats::check(self, version.revision, (before.as_deref(), pod), binding);
        }
    }

    fn node(&mut self, version: &Version, node: &Arc<Node>) {
        let before = self.picture.nodes.insert(node.name.clone(), Arc::clone(node));
        let writer = self.node_writes.get(&version.revision).copied();
        let differs = before.as_ref().is_none_or(|before| {
            (&before.uid, &before.allocatable, &before.reservations)
                != (&node.uid, &node.allocatable, &node.reservations)
        });
        if before.is_some_and(|before| before.uid != node.uid) {
            self.since.retain(|(on, _), _| *on != node.name);
        }
        if differs {
            let is_ours = |write: &Write| self.is_ours(&write.user) || is_of_command(write);
            let is_foreign = !writer.is_some_and(|one| is_ours(one.write));
            releases::check(self, version, node, (writer, is_foreign));
        }
    }

    /// Whether `user` is a daemon of ours.
    pub(super) fn is_ours(&self, user: &str) -> bool {
        self.rules.daemons.contains(user)
    }
}
