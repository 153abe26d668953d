//! The API server as a model: typed objects, one revision counter, a log for each kind that watches follow, and writes with the
//! preconditions that the real one checks. Each write is judged as it lands.

use super::past::{Logs, Truth};
use super::rules::Rules;
use crate::history::picture::Picture;
use crate::simulation::History;
use common::cluster::{Event, Seen};
use common::model::ids::Text;
use common::model::pod::{Rare, Scheduled};
use common::model::{Moment, Node, NodeName, Pod, PodKey, Replica, ReservationId, Uid, Workload};
use daemon::lease::election::Record;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Who does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Who {
    /// A daemon: which one, and in which of its lives.
    Daemon(usize, u32),
    /// A run of the command.
    Command(usize),
    /// Anybody else.
    Other,
}

/// What a watch follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Stream {
    Nodes,
    Pods,
    Workloads,
    Replicas,
}

pub(super) const STREAMS: [Stream; 4] = [Stream::Nodes, Stream::Pods, Stream::Workloads, Stream::Replicas];

/// Why a write was refused: the code of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused(pub(super) u16);

/// What a pod was told by the daemon.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) uid: Uid,
    /// Whose wish it answers.
    pub(super) answers: Option<Text>,
    pub(super) reason: &'static str,
    /// Up to which revision the daemon had seen nodes that said so.
    pub(super) at: u64,
}

/// When simulations begin.
const START: i64 = 1_800_000_000;

pub(super) struct Api {
    pub(super) now: Duration,
    pub(super) revision: u64,
    pub(super) picture: Picture,
    pub(super) keys: BTreeMap<PodKey, Uid>,
    pub(super) annotations: BTreeMap<NodeName, BTreeMap<String, String>>,
    pub(super) workloads: BTreeMap<Uid, Workload>,
    pub(super) replicas: BTreeMap<Text, Replica>,
    /// The Lease of the election, and its version.
    pub(super) lease: Option<(Record, u64)>,
    /// Who held it, and since when.
    holders: Vec<(Duration, String)>,
    pub(super) logs: Logs,
    /// What pods were told by the daemon.
    pub(super) told: Vec<Told>,
    pub(super) rules: Rules,
    pub(super) history: History,
    /// When anything but talk was written last.
    pub(super) stirred: Duration,
    made: u32,
}

/// The API server's time.
pub(super) fn wall(now: Duration) -> Timestamp {
    Timestamp::from_second(START).unwrap_or_default() + now
}

impl Api {
    pub(super) fn new(history: History) -> Self {
        Self {
            now: Duration::ZERO,
            revision: 100,
            picture: Picture::default(),
            keys: BTreeMap::new(),
            annotations: BTreeMap::new(),
            workloads: BTreeMap::new(),
            replicas: BTreeMap::new(),
            lease: None,
            holders: Vec::new(),
            logs: Default::default(),
            told: Vec::new(),
            rules: Rules::default(),
            history,
            stirred: Duration::ZERO,
            made: 0,
        }
    }

    pub(super) fn wall(&self) -> Timestamp {
        wall(self.now)
    }

    pub(super) fn note(&mut self, what: fmt::Arguments<'_>) {
        self.history.note(self.now, what);
    }

    /// A UID that nobody had before.
    pub(super) fn uid(&mut self) -> Uid {
        self.made += 1;
        Uid::from(format!("{:08x}-0000-4000-8000-0000000000aa", self.made))
    }

    /// A number for a name.
    pub(super) fn number(&mut self) -> u32 {
        self.made += 1;
        self.made
    }

    fn log(&mut self, stream: Stream, event: Event) {
        if stream != Stream::Replicas {
            self.stirred = self.now;
        }
        self.logs[stream as usize].push((self.revision, event));
    }

    pub(super) fn pod(&self, key: &PodKey) -> Option<&Arc<Pod>> {
        self.keys.get(key).and_then(|uid| self.picture.pods.get(uid))
    }

    /// The pod, if it is that very one.
    pub(super) fn that(&self, key: &PodKey, uid: &Uid) -> Result<&Arc<Pod>, Refused> {
        let pod = self.pod(key).ok_or(Refused(404))?;
        if pod.uid == *uid { Ok(pod) } else { Err(Refused(409)) }
    }

    /// Stores a pod, new or changed.
    pub(super) fn put_pod(&mut self, mut pod: Pod) -> u64 {
        self.revision += 1;
        pod.resource_version = self.revision;
        self.keys.insert(pod.key.clone(), pod.uid.clone());
        self.picture.pods.insert(pod.uid.clone(), Arc::new(pod.clone()));
        if pod.is_ended() {
            self.rules.left(&pod, wall(self.now));
        }
        self.log(Stream::Pods, Event::Pods(Seen::Applied(pod)));
        self.revision
    }

    /// The pod is gone.
    pub(super) fn remove_pod(&mut self, uid: &Uid) {
        let Some(pod) = self.picture.pods.remove(uid) else { return };
        self.revision += 1;
        self.note(format_args!("gone: {}", pod.key));
        self.keys.remove(&pod.key);
        self.rules.left(&pod, wall(self.now));
        let last = Pod { resource_version: self.revision, ..Pod::clone(&pod) };
        self.log(Stream::Pods, Event::Pods(Seen::Deleted(last)));
    }

    /// Deletes a pod: at once if it has no node, else after its grace.
    pub(super) fn delete_pod(&mut self, key: &PodKey, uid: &Uid, grace: Duration) -> Result<(), Refused> {
        let pod = Arc::clone(self.that(key, uid)?);
        if pod.node.is_none() || pod.is_ended() {
            self.remove_pod(uid);
            return Ok(());
        }
        if !pod.deleting {
            let ends = Moment::of(self.wall() + grace);
            let rare = Rare { grace_ends: Some(ends), ..pod.rare.as_deref().cloned().unwrap_or_default() };
            let next = Pod { deleting: true, rare: Some(Box::new(rare)), ..Pod::clone(&pod) };
            self.put_pod(next);
        }
        Ok(())
    }

    /// pods/binding.
    pub(super) fn bind(
        &mut self,
        who: Who,
        (key, uid): (&PodKey, &Uid),
        node: &NodeName,
        seat: Option<&ReservationId>,
    ) -> Result<(), Refused> {
        let before = Arc::clone(self.that(key, uid)?);
        if before.node.is_some() || before.deleting || !before.spec.gates.is_empty() {
            return Err(Refused(409));
        }
        let stamp = seat.map(|seat| seat.to_string().into()).or_else(|| before.stamp.clone());
        let scheduled = Some(Scheduled::True { since: Some(Moment::of(self.wall())) });
        let pod = Pod { node: Some(node.clone()), stamp, scheduled, ..Pod::clone(&before) };
        self.note(format_args!("bind by {who:?}: {key} to {node} {}", pod.stamp.as_deref().unwrap_or("")));
        self.put_pod(pod.clone());
        // What the pod itself claims is not our word.
        let said = Pod { stamp: seat.and(pod.stamp.clone()), ..pod };
        let truth = Truth { picture: &self.picture, logs: &self.logs, now: wall(self.now) };
        self.rules.bound(truth, who, (&before, &said), self.revision);
        Ok(())
    }

    /// Stores a node, new or changed in anything but its annotations.
    pub(super) fn put_node(&mut self, who: Who, mut node: Node) -> u64 {
        self.revision += 1;
        node.resource_version = self.revision;
        let before = self.picture.nodes.insert(node.name.clone(), Arc::new(node.clone()));
        let truth = Truth { picture: &self.picture, logs: &self.logs, now: wall(self.now) };
        self.rules.node(truth, who, (before.as_deref(), &node), self.revision);
        self.log(Stream::Nodes, Event::Nodes(Seen::Applied(node)));
        self.revision
    }

    pub(super) fn remove_node(&mut self, name: &NodeName) {
        let Some(node) = self.picture.nodes.remove(name) else { return };
        self.revision += 1;
        self.note(format_args!("node gone: {name}"));
        self.annotations.remove(name);
        self.rules.node_gone(&node, self.revision);
        let last = Node { resource_version: self.revision, ..Node::clone(&node) };
        self.log(Stream::Nodes, Event::Nodes(Seen::Deleted(last)));
    }

    /// Stores a workload, new or changed.
    pub(super) fn put_workload(&mut self, mut workload: Workload) {
        self.revision += 1;
        workload.resource_version = self.revision;
        self.workloads.insert(workload.uid.clone(), workload.clone());
        self.picture.owners.put(&workload, None);
        self.log(Stream::Workloads, Event::Workloads(workload.kind, Seen::Applied(workload)));
    }

    pub(super) fn remove_workload(&mut self, uid: &Uid) {
        let Some(workload) = self.workloads.remove(uid) else { return };
        self.revision += 1;
        self.note(format_args!("gone: {} {}", workload.kind, workload.name));
        self.picture.owners.put(&workload, Some(wall(self.now)));
        let last = Workload { resource_version: self.revision, ..workload };
        self.log(Stream::Workloads, Event::Workloads(last.kind, Seen::Deleted(last)));
    }

    pub(super) fn put_replica(&mut self, mut replica: Replica) {
        self.revision += 1;
        replica.meta.resource_version = self.revision;
        self.replicas.insert(replica.name.clone(), replica.clone());
        self.log(Stream::Replicas, Event::Replicas(Seen::Applied(replica)));
    }

    pub(super) fn remove_replica(&mut self, name: &str) {
        let Some(mut replica) = self.replicas.remove(name) else { return };
        self.revision += 1;
        replica.meta.resource_version = self.revision;
        self.log(Stream::Replicas, Event::Replicas(Seen::Deleted(replica)));
    }

    /// The Lease of the election, over that version of it; the new version.
    pub(super) fn put_lease(&mut self, record: Record, over: Option<u64>) -> Result<u64, Refused> {
        if self.lease.as_ref().map(|(_, version)| *version) != over {
            return Err(Refused(409));
        }
        self.revision += 1;
        if self.holders.last().is_none_or(|(_, holder)| *holder != record.holder) {
            self.holders.push((self.now, record.holder.to_string()));
        }
        self.lease = Some((record, self.revision));
        Ok(self.revision)
    }

    /// Whether the fence keeps this replica from writing: it did not lead, as far as the Lease said so long ago.
    pub(super) fn is_fenced(&self, replica: &str, lag: Duration) -> bool {
        let known = self.holders.iter().rev().find(|(since, _)| *since + lag <= self.now);
        let holder = known.map_or("", |(_, holder)| holder);
        holder.split('_').next() != Some(replica)
    }
}
