//! Goes through a history revision by revision ([`Replay::run`]), and checks each rule at the moments that it applies to.

use super::cluster_state::ClusterState;
use super::owners;
use super::patches::is_of_command;
use super::{
    CheckSettings, Counts, History, Version, VersionedObject, Violation, evictions, pending_pods, releases,
    requested_uid, room, seats,
};
use crate::control_plane::Write;
use common::model::ids::NodeName;
use common::model::{Node, Pod, Reservation, Uid};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state at one revision, and the violations up to there.
pub(super) struct Replay<'h> {
    pub(super) history: &'h History,
    pub(super) settings: &'h CheckSettings,
    pub(super) state: ClusterState,
    /// The reservations on nodes, by node and id.
    pub(super) reservations: BTreeMap<(NodeName, String), TrackedReservation>,
    /// When each pod was gone or had ended.
    pub(super) gone: BTreeMap<Uid, Timestamp>,
    /// When another program than ours removed the reservation for a pod.
    pub(super) removed_by_others: BTreeMap<Uid, Timestamp>,
    /// All versions, sorted by revision.
    pub(super) versions: Vec<&'h Version>,
    /// All changes of workloads, sorted by revision.
    pub(super) changes: Vec<owners::OwnerChange>,
    pub(super) bindings: BTreeMap<Uid, StoredWrite<'h>>,
    pub(super) node_writes: BTreeMap<u64, StoredWrite<'h>>,
    pub(super) violations: Vec<Violation>,
    pub(super) counts: Counts,
}

/// A stored write, and its index among all writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredWrite<'h> {
    pub(super) index: usize,
    pub(super) write: &'h Write,
}

/// A reservation on a node.
#[derive(Clone, Debug)]
pub(super) struct TrackedReservation {
    /// The revision at which it appeared.
    pub(super) revision: u64,
    /// Its current version.
    pub(super) reservation: Arc<Reservation>,
}

impl<'h> Replay<'h> {
    pub(super) fn new(history: &'h History, settings: &'h CheckSettings) -> Self {
        let all = || history.writes.iter().enumerate().map(|(index, write)| StoredWrite { index, write });
        let stored = || all().filter(|stored| stored.write.is_stored());
        let bindings = stored().filter(|stored| stored.write.resource == "pods/binding");
        let nodes = stored().filter(|stored| stored.write.resource.split('/').next() == Some("nodes"));
        let mut versions: Vec<&Version> = history.versions.iter().collect();
        versions.sort_by_key(|version| version.revision);
        let revision = |write: &Write| write.resource_version_after.as_ref()?.parse().ok();
        Self {
            history,
            settings,
            state: ClusterState::default(),
            reservations: BTreeMap::new(),
            gone: BTreeMap::new(),
            removed_by_others: BTreeMap::new(),
            versions,
            changes: owners::changes(history),
            bindings: bindings.filter_map(|one| Some((requested_uid(one.write)?, one))).collect(),
            node_writes: nodes.filter_map(|one| Some((revision(one.write)?, one))).collect(),
            violations: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Replays the whole history. Returns all violations and counts.
    pub(super) fn run(mut self) -> (Vec<Violation>, Counts) {
        let mut applied = 0;
        for index in 0..self.versions.len() {
            let version = self.versions[index];
            applied = self.learn_owners(applied, version.revision);
            self.step(version);
        }
        self.learn_owners(applied, u64::MAX);
        releases::at_end(&mut self);
        if self.settings.is_calm {
            pending_pods::at_end(&mut self);
        }
        (self.violations, self.counts)
    }

    /// Applies the changes of workloads up to a revision, beginning with change number `applied`. Returns how many are applied now.
    fn learn_owners(&mut self, applied: usize, revision: u64) -> usize {
        let more = self.changes[applied..].iter().take_while(|change| change.revision <= revision);
        let mut count = applied;
        for change in more {
            self.state.owners.apply(change);
            count += 1;
        }
        count
    }

    fn step(&mut self, version: &Version) {
        match &version.object {
            VersionedObject::Pod(pod) => self.pod(version, pod),
            VersionedObject::PodGone(pod) => {
                self.state.pods.remove(&pod.uid);
                self.gone.insert(pod.uid.clone(), version.at);
            }
            VersionedObject::Node(node, _) => self.node(version, node),
            VersionedObject::NodeGone(node) => {
                self.state.nodes.remove(&node.name);
                let lost = self.reservations.iter().filter(|((on, _), _)| *on == node.name);
                let replaced = lost.filter_map(|(_, kept)| kept.reservation.replaces());
                self.removed_by_others.extend(replaced.map(|replaced| (replaced.uid.clone(), version.at)));
                self.reservations.retain(|(on, _), _| *on != node.name);
            }
        }
    }

    fn pod(&mut self, version: &Version, pod: &Arc<Pod>) {
        let before = self.state.pods.insert(pod.uid.clone(), Arc::clone(pod));
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
        let before = self.state.nodes.insert(node.name.clone(), Arc::clone(node));
        let writer = self.node_writes.get(&version.revision).copied();
        let differs = before.as_ref().is_none_or(|before| {
            (&before.uid, &before.allocatable, &before.reservations)
                != (&node.uid, &node.allocatable, &node.reservations)
        });
        if before.is_some_and(|before| before.uid != node.uid) {
            self.reservations.retain(|(on, _), _| *on != node.name);
        }
        if differs {
            let is_ours = |write: &Write| self.is_ours(&write.user) || is_of_command(write);
            let is_foreign = !writer.is_some_and(|one| is_ours(one.write));
            releases::check(self, version, node, (writer, is_foreign));
        }
    }

    /// Whether `user` is a daemon of ours.
    pub(super) fn is_ours(&self, user: &str) -> bool {
        self.settings.daemons.contains(user)
    }
}
