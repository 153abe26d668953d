//! A model of the API server: typed objects, one revision counter, a log of events for each kind, and writes with the preconditions
//! that the real one checks. The rules are checked at each write.

use super::knowledge::{Logs, Truth};
use super::rules::RuleChecker;
use crate::history::cluster_state::ClusterState;
use crate::simulation::HistoryLog;
use common::cluster::{Event, WatchEvent};
use common::model::ids::Text;
use common::model::pod::{RareFields, ScheduledCondition};
use common::model::{Moment, Node, NodeName, Pod, PodKey, Replica, ReservationId, Uid, Workload};
use daemon::lease::election::Record;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The sender of a request. The names are part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Actor {
    /// A daemon: its index, and how often it was started.
    Daemon(usize, u32),
    /// A run of the command.
    Command(usize),
    /// Any other program or user.
    Other,
}

/// The kind of objects of a watch. The names are part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Stream {
    Nodes,
    Pods,
    Workloads,
    Replicas,
}

pub(super) const STREAMS: [Stream; 4] = [Stream::Nodes, Stream::Pods, Stream::Workloads, Stream::Replicas];

/// The status code of an error response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ErrorCode(pub(super) u16);

/// An event that a daemon wrote about an object.
#[derive(Clone, Debug)]
pub(super) struct WrittenEvent {
    pub(super) uid: Uid,
    /// The requester of the `reserve/keep` that the event answers.
    pub(super) answers: Option<Text>,
    pub(super) reason: &'static str,
    /// The revision up to which the daemon had seen nodes when it wrote the event.
    pub(super) at: u64,
}

/// The time at which simulations begin, in seconds since 1970.
const START: i64 = 1_800_000_000;

pub(super) struct Api {
    pub(super) now: Duration,
    pub(super) revision: u64,
    pub(super) state: ClusterState,
    pub(super) keys: BTreeMap<PodKey, Uid>,
    pub(super) annotations: BTreeMap<NodeName, BTreeMap<String, String>>,
    pub(super) workloads: BTreeMap<Uid, Workload>,
    pub(super) replicas: BTreeMap<Text, Replica>,
    /// The Lease of the election, and its version.
    pub(super) lease: Option<(Record, u64)>,
    /// The holders of that Lease, each with the time since when.
    holders: Vec<(Duration, String)>,
    pub(super) logs: Logs,
    /// The events that daemons wrote.
    pub(super) events: Vec<WrittenEvent>,
    pub(super) rules: RuleChecker,
    pub(super) history: HistoryLog,
    /// When anything but a replica's Lease was last written.
    pub(super) last_change: Duration,
    id_count: u32,
}

/// The API server's wall-clock time.
pub(super) fn wall(now: Duration) -> Timestamp {
    Timestamp::from_second(START).unwrap_or_default() + now
}

impl Api {
    pub(super) fn new(history: HistoryLog) -> Self {
        Self {
            now: Duration::ZERO,
            revision: 100,
            state: ClusterState::default(),
            keys: BTreeMap::new(),
            annotations: BTreeMap::new(),
            workloads: BTreeMap::new(),
            replicas: BTreeMap::new(),
            lease: None,
            holders: Vec::new(),
            logs: Default::default(),
            events: Vec::new(),
            rules: RuleChecker::default(),
            history,
            last_change: Duration::ZERO,
            id_count: 0,
        }
    }

    pub(super) fn wall(&self) -> Timestamp {
        wall(self.now)
    }

    pub(super) fn note(&mut self, what: fmt::Arguments<'_>) {
        self.history.note(self.now, what);
    }

    /// A new UID.
    pub(super) fn uid(&mut self) -> Uid {
        self.id_count += 1;
        Uid::from(format!("{:08x}-0000-4000-8000-0000000000aa", self.id_count))
    }

    /// A new number for a name.
    pub(super) fn number(&mut self) -> u32 {
        self.id_count += 1;
        self.id_count
    }

    fn log(&mut self, stream: Stream, event: Event) {
        if stream != Stream::Replicas {
            self.last_change = self.now;
        }
        self.logs[stream as usize].push((self.revision, event));
    }

    pub(super) fn pod(&self, key: &PodKey) -> Option<&Arc<Pod>> {
        self.keys.get(key).and_then(|uid| self.state.pods.get(uid))
    }

    /// The pod with this name, if it has this UID; else 404 or 409.
    pub(super) fn pod_with_uid(&self, key: &PodKey, uid: &Uid) -> Result<&Arc<Pod>, ErrorCode> {
        let pod = self.pod(key).ok_or(ErrorCode(404))?;
        if pod.uid == *uid { Ok(pod) } else { Err(ErrorCode(409)) }
    }

    /// Stores a pod, new or changed.
    pub(super) fn put_pod(&mut self, mut pod: Pod) -> u64 {
        self.revision += 1;
        pod.resource_version = self.revision;
        self.keys.insert(pod.key.clone(), pod.uid.clone());
        self.state.pods.insert(pod.uid.clone(), Arc::new(pod.clone()));
        if pod.is_ended() {
            self.rules.record_pod_gone(&pod, wall(self.now));
        }
        self.log(Stream::Pods, Event::Pods(WatchEvent::Applied(pod)));
        self.revision
    }

    pub(super) fn remove_pod(&mut self, uid: &Uid) {
        let Some(pod) = self.state.pods.remove(uid) else { return };
        self.revision += 1;
        self.note(format_args!("gone: {}", pod.key));
        self.keys.remove(&pod.key);
        self.rules.record_pod_gone(&pod, wall(self.now));
        let last = Pod { resource_version: self.revision, ..Pod::clone(&pod) };
        self.log(Stream::Pods, Event::Pods(WatchEvent::Deleted(last)));
    }

    /// Deletes a pod: at once if it has no node or has ended, else with a grace period.
    pub(super) fn delete_pod(&mut self, key: &PodKey, uid: &Uid, grace: Duration) -> Result<(), ErrorCode> {
        let pod = Arc::clone(self.pod_with_uid(key, uid)?);
        if pod.node.is_none() || pod.is_ended() {
            self.remove_pod(uid);
            return Ok(());
        }
        if !pod.deleting {
            let ends = Moment::of(self.wall() + grace);
            let rare = RareFields {
                deletion_timestamp: Some(ends),
                ..pod.rare.as_deref().cloned().unwrap_or_default()
            };
            let next = Pod { deleting: true, rare: Some(Box::new(rare)), ..Pod::clone(&pod) };
            self.put_pod(next);
        }
        Ok(())
    }

    /// Handles a POST to `pods/binding`.
    pub(super) fn bind(
        &mut self,
        who: Actor,
        (key, uid): (&PodKey, &Uid),
        node: &NodeName,
        seat: Option<&ReservationId>,
    ) -> Result<(), ErrorCode> {
        let before = Arc::clone(self.pod_with_uid(key, uid)?);
        if before.node.is_some() || before.deleting || !before.spec.gates.is_empty() {
            return Err(ErrorCode(409));
        }
        let stamp = seat.map(|seat| seat.to_string().into()).or_else(|| before.stamp.clone());
        let scheduled = Some(ScheduledCondition::True { since: Some(Moment::of(self.wall())) });
        let pod = Pod { node: Some(node.clone()), stamp, scheduled, ..Pod::clone(&before) };
        self.note(format_args!("bind by {who:?}: {key} to {node} {}", pod.stamp.as_deref().unwrap_or("")));
        self.put_pod(pod.clone());
        // Only the stamp of the binding counts, not one that the pod had before.
        let said = Pod { stamp: seat.and(pod.stamp.clone()), ..pod };
        let truth = Truth { state: &self.state, logs: &self.logs, now: wall(self.now) };
        self.rules.check_bind(truth, who, (&before, &said), self.revision);
        Ok(())
    }

    /// Stores a node, new or changed in anything but its annotations.
    pub(super) fn put_node(&mut self, who: Actor, mut node: Node) -> u64 {
        self.revision += 1;
        node.resource_version = self.revision;
        let before = self.state.nodes.insert(node.name.clone(), Arc::new(node.clone()));
        let truth = Truth { state: &self.state, logs: &self.logs, now: wall(self.now) };
        self.rules.check_node(truth, who, (before.as_deref(), &node), self.revision);
        self.log(Stream::Nodes, Event::Nodes(WatchEvent::Applied(node)));
        self.revision
    }

    pub(super) fn remove_node(&mut self, name: &NodeName) {
        let Some(node) = self.state.nodes.remove(name) else { return };
        self.revision += 1;
        self.note(format_args!("node gone: {name}"));
        self.annotations.remove(name);
        self.rules.node_gone(&node, self.revision);
        let last = Node { resource_version: self.revision, ..Node::clone(&node) };
        self.log(Stream::Nodes, Event::Nodes(WatchEvent::Deleted(last)));
    }

    /// Stores a workload, new or changed.
    pub(super) fn put_workload(&mut self, mut workload: Workload) {
        self.revision += 1;
        workload.resource_version = self.revision;
        self.workloads.insert(workload.uid.clone(), workload.clone());
        self.state.owners.put(&workload, None);
        self.log(Stream::Workloads, Event::Workloads(workload.kind, WatchEvent::Applied(workload)));
    }

    pub(super) fn remove_workload(&mut self, uid: &Uid) {
        let Some(workload) = self.workloads.remove(uid) else { return };
        self.revision += 1;
        self.note(format_args!("gone: {} {}", workload.kind, workload.name));
        self.state.owners.put(&workload, Some(wall(self.now)));
        let last = Workload { resource_version: self.revision, ..workload };
        self.log(Stream::Workloads, Event::Workloads(last.kind, WatchEvent::Deleted(last)));
    }

    pub(super) fn put_replica(&mut self, mut replica: Replica) {
        self.revision += 1;
        replica.meta.resource_version = self.revision;
        self.replicas.insert(replica.name.clone(), replica.clone());
        self.log(Stream::Replicas, Event::Replicas(WatchEvent::Applied(replica)));
    }

    pub(super) fn remove_replica(&mut self, name: &str) {
        let Some(mut replica) = self.replicas.remove(name) else { return };
        self.revision += 1;
        replica.meta.resource_version = self.revision;
        self.log(Stream::Replicas, Event::Replicas(WatchEvent::Deleted(replica)));
    }

    /// Writes the Lease of the election, if its version is `over`. Returns the new version.
    pub(super) fn put_lease(&mut self, record: Record, over: Option<u64>) -> Result<u64, ErrorCode> {
        if self.lease.as_ref().map(|(_, version)| *version) != over {
            return Err(ErrorCode(409));
        }
        self.revision += 1;
        if self.holders.last().is_none_or(|(_, holder)| *holder != record.holder) {
            self.holders.push((self.now, record.holder.to_string()));
        }
        self.lease = Some((record, self.revision));
        Ok(self.revision)
    }

    /// Whether the fence refuses writes of this replica: by the Lease as it was `lag` ago, it does not lead.
    pub(super) fn is_fenced(&self, replica: &str, lag: Duration) -> bool {
        let known = self.holders.iter().rev().find(|(since, _)| *since + lag <= self.now);
        let holder = known.map_or("", |(_, holder)| holder);
        holder.split('_').next() != Some(replica)
    }
}
