//! The history of a cluster, and the rules that it must not break.
//!
//! A history is every version of every node and pod in the order in which etcd stored them (the resourceVersion is
//! etcd's own revision, so it orders objects of all kinds), and every write with who wrote it, from the audit log.
//! [`check`] is a pure function of it. It does the books anew, from the design and not from the daemon's code; only
//! quantities and annotations are read by the same decoders, which have golden vectors of their own.
//!
//! | rule | what is checked here |
//! |---|---|
//! | I1 | a bind of ours leaves each resource the pod asks for within allocatable, with what is held for others |
//! | I2 | an eviction by the command finds a reservation for that pod, large enough, on its node or another |
//! | I3 | a seat is taken only when the replaced pod is gone, and released only when it is of no more use |
//! | I4 | by then every live replica had seen it |
//! | I5 | one pod one seat, one seat one pod |
//! | I6 | our writes to nodes are guarded patches of our own keys, and alter nothing else |
//! | I7 | nothing outlives its end, or its owner, by more than the slack; no end is further ahead than it may be |
//! | I8 | a bind names the UID; a pod is bound once; never one that is gated, deleted or another scheduler's |
//! | I24 | after a calm end no pod of ours waits while a node has room for it, free or kept for that pod |
//!
//! A daemon cannot know what has not reached it. What breaks I1 or I3 is worked out once more on what the daemon knew when it
//! decided ([`past`]), and excused if it was right on that; [`Counts`] says how often that was so.

mod counts;
mod daemon_sets;
pub mod evictions;
pub mod expiry;
pub mod owners;
pub mod past;
pub mod patches;
pub mod picture;
pub mod releases;
mod replay;
pub mod room;
pub mod seats;
pub mod waiting;

#[cfg(test)]
mod tests;

pub use counts::{Count, Counts};
pub use past::{News, Sent};

use crate::control_plane::Write;
use common::model::{Node, Pod, Uid};
use jiff::{SignedDuration, Timestamp};
use replay::Replay;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// Everything that happened.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Every version of nodes and pods.
    pub versions: Vec<Version>,
    /// Every write, in the order of the answers.
    pub writes: Vec<Write>,
    /// When the last look was taken.
    pub end: Timestamp,
    /// What reached each daemon, by the user that it writes as, oldest first; nothing where that is not known.
    pub news: BTreeMap<String, Vec<News>>,
    /// How writes of daemons set out, by their place in `writes`; nothing where that is not known.
    pub sent: BTreeMap<usize, Sent>,
}

/// An object at one moment.
#[derive(Clone, Debug)]
pub struct Version {
    /// etcd's revision.
    pub revision: u64,
    /// When it was seen.
    pub at: Timestamp,
    /// What it was.
    pub what: What,
}

/// What a version is of.
#[derive(Clone, Debug)]
pub enum What {
    /// A pod.
    Pod(Arc<Pod>),
    /// A pod is gone; as it last was.
    PodGone(Arc<Pod>),
    /// A node, and its JSON.
    Node(Arc<Node>, Arc<Value>),
    /// A node is gone.
    NodeGone(Arc<Node>),
}

/// What is to be known about the run beside its history.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The users that daemons of ours write as.
    pub daemons: BTreeSet<String>,
    /// The scheduler names that they serve.
    pub schedulers: BTreeSet<String>,
    /// Nodes about which several of them decide at the same time on purpose, so that the room is not theirs alone.
    pub contended: BTreeSet<String>,
    /// Pods that somebody wanted to be evicted without a reservation, as `NAMESPACE/NAME`.
    pub unreserved: BTreeSet<String>,
    /// How long before a write sets out it may have been decided on, and, where nobody knows what a daemon was told when, how
    /// long a write of others may not have been seen yet; 3 s if nothing is said.
    pub unseen: Option<SignedDuration>,
    /// Whether everything had the time to come right before the end.
    pub is_calm: bool,
}

impl Rules {
    fn unseen(&self) -> SignedDuration {
        self.unseen.unwrap_or(SignedDuration::from_secs(3))
    }
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// `I1` to `I8`.
    pub rule: &'static str,
    /// The revision at which it broke; 0 if it has none.
    pub revision: u64,
    /// What happened.
    pub what: String,
}

/// All broken rules, by revision.
pub fn check(history: &History, rules: &Rules) -> Vec<Violation> {
    check_counted(history, rules).0
}

/// The same, and how often each rule was asked.
pub fn check_counted(history: &History, rules: &Rules) -> (Vec<Violation>, Counts) {
    let (mut violations, mut counts) = Replay::new(history, rules).run();
    violations.extend(patches::check(history, rules, &mut counts));
    violations.extend(seats::binds(history, rules, &mut counts));
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

/// The part of a stored write that says which object it was.
fn metadata<'w>(write: &'w Write, field: &str) -> Option<&'w str> {
    write.response_object.as_ref()?.get("metadata")?.get(field)?.as_str()
}

/// The UID in the preconditions or the metadata of what was asked for.
fn requested_uid(write: &Write) -> Option<Uid> {
    let object = write.request_object.as_ref()?;
    let options = object.get("deleteOptions").unwrap_or(object);
    let uid = options.get("preconditions").and_then(|conditions| conditions.get("uid"));
    let uid = uid.or_else(|| object.get("metadata")?.get("uid"));
    uid?.as_str().map(Uid::from)
}
