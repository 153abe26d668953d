//! The recorded history of a cluster, and the rules that it must not break. [`check`] is the entry point.
//!
//! A history is every version of every node and pod in the order in which etcd stored them (the resourceVersion is
//! etcd's own revision, so it orders objects of all kinds), and every write with its user, from the audit log.
//! [`check`] is a pure function of it. It computes the ledgers from the design and must not use the daemon's code for it; only
//! quantities and annotations are read by the same decoders, which have golden vectors of their own.
//!
//! | rule | what is checked here |
//! |---|---|
//! | I1 | a bind of ours leaves each resource the pod asks for within allocatable, with what is held for others |
//! | I2 | an eviction by the command finds a reservation for that pod, large enough, on its node or another |
//! | I3 | a seat is taken only when the replaced pod is gone, and released only when it is of no more use |
//! | I4 | at an eviction by the command every live replica had seen the reservation |
//! | I5 | one pod one seat, one seat one pod |
//! | I6 | our writes to nodes are guarded patches of our own keys, and alter nothing else |
//! | I7 | nothing outlives its end, or its owner, by more than the slack; no end is further ahead than it may be |
//! | I8 | a bind names the UID; a pod is bound once; never one that is gated, deleted or another scheduler's |
//! | I24 | after a calm end no pod of ours waits while a node has room for it, free or kept for that pod |
//!
//! A daemon cannot know what has not reached it. What breaks I1 or I3 is checked once more on the state that the daemon knew when
//! it decided ([`knowledge`]), and excused if it was right there; [`Counts`] says how often that was so.

pub mod cluster_state;
mod counts;
mod daemon_sets;
pub mod evictions;
pub mod expiry;
pub mod knowledge;
pub mod owners;
pub mod patches;
pub mod pending_pods;
pub mod releases;
mod replay;
pub mod room;
pub mod seats;

#[cfg(test)]
mod tests;

pub use counts::{Count, Counts};
pub use knowledge::{Delivery, SendInfo};

use crate::control_plane::Write;
use common::model::{Node, Pod, Uid};
use jiff::{SignedDuration, Timestamp};
use replay::Replay;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// Everything that happened in a cluster.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Every version of nodes and pods.
    pub versions: Vec<Version>,
    /// Every write, in the order of the answers.
    pub writes: Vec<Write>,
    /// The time of the end.
    pub end: Timestamp,
    /// What lists and watches brought to each daemon, by the daemon's user, oldest first. Empty for a real cluster.
    pub deliveries: BTreeMap<String, Vec<Delivery>>,
    /// How the writes of daemons were sent, by their index in `writes`. Empty for a real cluster.
    pub sends: BTreeMap<usize, SendInfo>,
}

/// One version of an object.
#[derive(Clone, Debug)]
pub struct Version {
    /// etcd's revision.
    pub revision: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// The object, or its deletion.
    pub object: VersionedObject,
}

/// The object of a version.
#[derive(Clone, Debug)]
pub enum VersionedObject {
    /// A pod was stored.
    Pod(Arc<Pod>),
    /// A pod is gone; its last version.
    PodGone(Arc<Pod>),
    /// A node was stored; with its JSON.
    Node(Arc<Node>, Arc<Value>),
    /// A node is gone; its last version.
    NodeGone(Arc<Node>),
}

/// What the checker has to know about a run besides its history.
#[derive(Clone, Debug, Default)]
pub struct CheckSettings {
    /// The users of our daemons.
    pub daemons: BTreeSet<String>,
    /// The scheduler names that the daemons serve.
    pub schedulers: BTreeSet<String>,
    /// Nodes about which several daemons decide at the same time on purpose, without knowing of each other.
    pub contended: BTreeSet<String>,
    /// Pods that the test lets the command evict without a reservation, as `NAMESPACE/NAME`.
    pub unreserved: BTreeSet<String>,
    /// The longest time between a decision and the sending of its write. Where deliveries are not recorded, also the longest time
    /// that a daemon may not have seen a write of others. The default is 3 s.
    pub unseen: Option<SignedDuration>,
    /// Whether there were no faults and no actions before the end for so long that everything has settled.
    pub is_calm: bool,
}

impl CheckSettings {
    fn unseen(&self) -> SignedDuration {
        self.unseen.unwrap_or(SignedDuration::from_secs(3))
    }
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The name of the rule, such as `I1`.
    pub rule: &'static str,
    /// The revision at which the rule was broken; 0 if there is none.
    pub revision: u64,
    /// What happened.
    pub what: String,
}

/// All violations, sorted by revision.
pub fn check(history: &History, settings: &CheckSettings) -> Vec<Violation> {
    check_counted(history, settings).0
}

/// All violations, and how often each rule was checked.
pub fn check_counted(history: &History, settings: &CheckSettings) -> (Vec<Violation>, Counts) {
    let (mut violations, mut counts) = Replay::new(history, settings).run();
    violations.extend(patches::check(history, settings, &mut counts));
    violations.extend(seats::binds(history, settings, &mut counts));
    violations.sort_by_key(|violation| (violation.revision, violation.rule));
    (violations, counts)
}

impl Violation {
    fn new(rule: &'static str, revision: u64, what: String) -> Self {
        Self { rule, revision, what }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at revision {}: {}", self.rule, self.revision, self.what)
    }
}

/// A field of the metadata of the object that a write stored.
fn metadata<'w>(write: &'w Write, field: &str) -> Option<&'w str> {
    write.response_object.as_ref()?.get("metadata")?.get(field)?.as_str()
}

/// The UID in the preconditions or the metadata of a request.
fn requested_uid(write: &Write) -> Option<Uid> {
    let object = write.request_object.as_ref()?;
    let options = object.get("deleteOptions").unwrap_or(object);
    let uid = options.get("preconditions").and_then(|conditions| conditions.get("uid"));
    let uid = uid.or_else(|| object.get("metadata")?.get("uid"));
    uid?.as_str().map(Uid::from)
}
