//! What one `Request::Look` reads from the cluster, and which of the pods is the replacement.

use std::collections::BTreeSet;

/// The state of the cluster at one moment, as far as a recreation needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// The old pod, while it exists.
    pub old: Option<OldPod>,
    /// The node where room is kept, if the caller may read it.
    pub node: Option<NodeObservation>,
    /// The other pods of the owner, oldest first.
    pub pods: Vec<SiblingPod>,
    /// Whether the reservation is still on the node; `None` if the caller may not read the node.
    pub is_reserved: Option<bool>,
}

/// The pod that is recreated, while it exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OldPod {
    /// Whether its deletion has begun.
    pub is_leaving: bool,
    /// Whether its containers have ended for good, so that it no longer takes room.
    pub is_ended: bool,
    /// The finalizers that still keep it.
    pub finalizers: Vec<String>,
}

/// The state of the node where room is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeObservation {
    pub is_gone: bool,
    /// Whether the condition Ready is true.
    pub is_ready: bool,
    pub is_cordoned: bool,
}

/// A pod of the same owner: the replacement, or a pod that existed before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiblingPod {
    pub name: String,
    pub uid: String,
    /// Its node, once it is bound.
    pub node: Option<String>,
    pub is_ready: bool,
    /// Whether it is being deleted, or has ended.
    pub is_over: bool,
    /// Whether it has succeeded, as the pods of a Job do.
    pub is_complete: bool,
    /// The reservation that it took: the value of `reserve/seat`.
    pub seat: Option<String>,
    /// Why it is not scheduled: the message of its scheduler.
    pub waits: Option<String>,
}

impl Observation {
    /// The replacement, if it is clear which pod that is: the pod that took the reservation; else, of the pods that are not
    /// `known`, the one on `node`; else the oldest of them, once all of them have a node.
    pub fn replacement(
        &self,
        seat: Option<&str>,
        node: &str,
        same_name: Option<&str>,
        known: &BTreeSet<String>,
    ) -> Option<&SiblingPod> {
        let is_candidate = |pod: &&SiblingPod| {
            (!pod.is_over || pod.is_complete) && same_name.is_none_or(|name| name == pod.name)
        };
        let mut new: Vec<&SiblingPod> = self.pods.iter().filter(is_candidate).collect();
        let is_taker = |pod: &&&SiblingPod| seat.is_some() && pod.seat.as_deref() == seat;
        if let Some(taker) = new.iter().find(is_taker) {
            return Some(taker);
        }
        new.retain(|pod| !known.contains(&pod.uid));
        let on_node = || new.iter().find(|pod| pod.node.as_deref() == Some(node));
        let oldest_if_all_bound = || new.first().filter(|_| new.iter().all(|pod| pod.node.is_some()));
        on_node().or_else(oldest_if_all_bound).copied()
    }

    /// The pods that are not `known` and have no node yet.
    pub fn waiting<'s>(&'s self, known: &'s BTreeSet<String>) -> impl Iterator<Item = &'s SiblingPod> {
        let waits = move |pod: &&SiblingPod| pod.node.is_none() && !pod.is_over && !known.contains(&pod.uid);
        self.pods.iter().filter(waits)
    }
}
