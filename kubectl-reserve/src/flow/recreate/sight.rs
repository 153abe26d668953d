//! How things are after an eviction, and which pod is the replacement.

use std::collections::BTreeSet;

/// How things are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// The old pod, while it is there.
    pub old: Option<OldPod>,
    /// The node whose room is kept, if it can be read.
    pub node: Option<NodeSight>,
    /// Other pods of the owner, from old to new.
    pub pods: Vec<Newcomer>,
    /// Whether the reservation is still there; `None` if that cannot be told.
    pub is_reserved: Option<bool>,
}

/// The old pod, while it is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OldPod {
    /// Whether its deletion has begun.
    pub is_leaving: bool,
    /// Whether its containers have ended for good: it no longer takes room.
    pub is_ended: bool,
    /// What must still happen before it can go.
    pub finalizers: Vec<String>,
}

/// The node, in a few words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSight {
    /// Whether it is gone.
    pub is_gone: bool,
    /// Whether its kubelet is well.
    pub is_ready: bool,
    /// Whether it is cordoned.
    pub is_cordoned: bool,
}

/// A pod of the owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Newcomer {
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// Its node, once it has one.
    pub node: Option<String>,
    /// Whether it is ready.
    pub is_ready: bool,
    /// Whether it is on its way out, or has ended.
    pub is_over: bool,
    /// Whether it has ended well, as a Job's pod does.
    pub is_complete: bool,
    /// The reservation that it took, by its `reserve/seat`.
    pub seat: Option<String>,
    /// Why it waits, in the scheduler's words.
    pub waits: Option<String>,
}

impl Sight {
    /// The replacement, if it can be told: the pod that took the reservation; else, of the pods that had no node before, the
    /// one on the node; else the oldest, once all of them have a node.
    pub fn replacement(
        &self,
        seat: Option<&str>,
        node: &str,
        same_name: Option<&str>,
        known: &BTreeSet<String>,
    ) -> Option<&Newcomer> {
        let is_candidate = |pod: &&Newcomer| {
            (!pod.is_over || pod.is_complete) && same_name.is_none_or(|name| name == pod.name)
        };
        let mut new: Vec<&Newcomer> = self.pods.iter().filter(is_candidate).collect();
        let is_taker = |pod: &&&Newcomer| seat.is_some() && pod.seat.as_deref() == seat;
        if let Some(taker) = new.iter().find(is_taker) {
            return Some(taker);
        }
        new.retain(|pod| !known.contains(&pod.uid));
        let at_home = || new.iter().find(|pod| pod.node.as_deref() == Some(node));
        let settled = || new.first().filter(|_| new.iter().all(|pod| pod.node.is_some()));
        at_home().or_else(settled).copied()
    }

    /// Pods that are new and wait for a node.
    pub fn waiting<'s>(&'s self, known: &'s BTreeSet<String>) -> impl Iterator<Item = &'s Newcomer> {
        let waits = move |pod: &&Newcomer| pod.node.is_none() && !pod.is_over && !known.contains(&pod.uid);
        self.pods.iter().filter(waits)
    }
}
