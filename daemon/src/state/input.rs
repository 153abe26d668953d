//! The inputs of the state machine: everything that it learns.

use super::annotation::{AnnotationOutcome, AnnotationWrite};
use super::effect::Eviction;
use crate::extender_logic::Question;
use crate::scheduler::ExtenderAnswer;
use common::api::extender::Victims;
use common::cluster::Event;
use common::cluster::compare::Listing;
use common::model::{NodeName, PodKey, Uid};
use std::collections::BTreeMap;

/// As in [`Effect`](super::Effect), a pod has its UID beside its name.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A change of the cluster, from a watch or from a read.
    Cluster(Box<Event>),
    /// The outcome of [`Effect::Bind`](super::Effect::Bind) or of [`Effect::Find`](super::Effect::Find).
    Binding {
        pod: PodKey,
        uid: Uid,
        outcome: BindingOutcome,
    },
    /// The nomination of a pod was written, and the pod has this version now; `None` if it was not written.
    Nominated {
        uid: Uid,
        version: Option<u64>,
    },
    /// The outcome of [`Effect::Evict`](super::Effect::Evict).
    Evicted {
        eviction: Box<Eviction>,
        outcome: EvictionOutcome,
    },
    /// The outcome of [`Effect::WriteObjects`](super::Effect::WriteObjects): the version of each object that was written, in order;
    /// or why a write failed.
    ObjectsWritten {
        pod: PodKey,
        uid: Uid,
        id: u64,
        outcome: Result<Vec<u64>, String>,
    },
    /// What all extenders together answer about the nodes for a pod, or why they could not be asked.
    ExtenderAnswer {
        pod: PodKey,
        uid: Uid,
        answer: Result<ExtenderAnswer, String>,
    },
    /// What extenders answer about the victims of a preemption, or why they could not be asked.
    ExtenderVictims {
        pod: PodKey,
        uid: Uid,
        answer: Result<BTreeMap<NodeName, Victims>, String>,
    },
    /// A scheduler asks this daemon as its extender. The reply repeats the number.
    Question {
        id: u64,
        question: Box<Question>,
    },
    /// The outcome of [`Effect::Annotate`](super::Effect::Annotate).
    Annotated {
        annotation: Box<AnnotationWrite>,
        outcome: AnnotationOutcome,
    },
    Leading(bool),
    /// The belief is to be compared with what the API server has.
    Compare(ComparisonCause),
    /// The nodes and pods that the API server has, or why they could not be listed.
    Listed(Result<Box<Listing>, String>),
    /// The time that [`State::next_tick`](super::State::next_tick) named has come.
    Tick,
    /// The daemon is shutting down: nothing is decided any more.
    Stop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonCause {
    /// The previous comparison was some minutes ago. Only the leader compares periodically.
    Period,
    /// The process got `SIGUSR2`.
    Signal,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvictionOutcome {
    /// The victim's deletion has begun.
    Begun,
    Gone,
    /// The victim could not be patched or deleted, or there was no answer.
    Failed {
        why: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BindingOutcome {
    /// The pod is bound to the node that was asked for.
    Bound,
    /// The pod is certainly not bound.
    Refused { why: String },
    /// The pod cannot be bound by this daemon any more: it is gone, or another scheduler bound it.
    Lost,
    /// There was no answer, or one that leaves it open. Only a fresh GET of the pod can tell.
    Unknown,
}
