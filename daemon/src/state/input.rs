//! Everything that can happen to the daemon.

use super::effect::Eviction;
use super::reserving::{Annotated, Annotation};
use crate::extender_logic::Question;
use crate::scheduler::Opinions;
use common::api::extender::Victims;
use common::cluster::Event;
use common::cluster::compare::Listing;
use common::model::{NodeName, PodKey, Uid};
use std::collections::BTreeMap;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Something was learnt about the cluster.
    Cluster(Box<Event>),
    /// What has become of a binding that was asked for.
    Binding {
        /// The pod.
        pod: PodKey,
        /// Which pod of that name.
        uid: Uid,
        /// What is known about it.
        outcome: Binding,
    },
    /// The nomination of a pod was written, or could not be.
    Nominated {
        /// The pod.
        uid: Uid,
        /// The version of the pod that says so; `None` if it was not written.
        version: Option<u64>,
    },
    /// What has become of a pod that has to go for another.
    Evicted {
        /// The pod that has to go, and for whom.
        eviction: Box<Eviction>,
        /// What is known about it.
        outcome: Evicted,
    },
    /// What has become of the volumes of a pod.
    Volumes {
        /// The pod.
        pod: PodKey,
        /// Which pod of that name.
        uid: Uid,
        /// The number of the try.
        id: u64,
        /// The version of each object that was written, in order; or why that came to nothing.
        outcome: Result<Vec<u64>, String>,
    },
    /// What extenders say about a pod, or why they could not be asked.
    Answered {
        /// The pod.
        pod: PodKey,
        /// Which pod of that name.
        uid: Uid,
        /// What they say.
        answer: Result<Opinions, String>,
    },
    /// What extenders say about who may have to go for a pod, or why they could not be asked.
    Chosen {
        /// The pod.
        pod: PodKey,
        /// Which pod of that name.
        uid: Uid,
        /// The nodes that are left, and who has to go there.
        answer: Result<BTreeMap<NodeName, Victims>, String>,
    },
    /// A scheduler asks its extender.
    Question {
        /// Which question, for the answer.
        id: u64,
        /// What it asks.
        question: Box<Question>,
    },
    /// What has become of a reservation that was to be made, extended or released.
    Annotated {
        /// What was to be done.
        annotation: Box<Annotation>,
        /// What is known about it.
        outcome: Annotated,
    },
    /// Whether this daemon is the one that decides and writes.
    Leading(bool),
    /// What is believed is to be compared with what the API server has.
    Compare(Cause),
    /// The nodes and pods that the API server has, or why they could not be listed.
    Listed(Result<Box<Listing>, String>),
    /// Time has passed.
    Tick,
    /// The daemon is to end: nothing is decided any more.
    Stop,
}

/// Why a comparison is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The last one was some minutes ago. Only the leader compares then.
    Period,
    /// Somebody asked for it by a signal.
    Signal,
}

/// What has become of a pod that has to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evicted {
    /// Its deletion has begun.
    Begun,
    /// It was gone already.
    Gone,
    /// It could not be told or deleted, or nobody knows.
    Failed {
        /// Why.
        why: String,
    },
}

/// What has become of a binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    /// The pod is bound to the node that was asked for.
    Bound,
    /// The pod is not bound, for certain.
    Refused {
        /// Why, for the pod's condition and event.
        why: String,
    },
    /// The pod is no longer ours to bind: it is gone, or somebody else bound it.
    Lost,
    /// No answer came, or one that can mean either. Only a fresh look at the pod can tell.
    Unknown,
}
