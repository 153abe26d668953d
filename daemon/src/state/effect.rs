//! The effects: everything that the state machine can want done. The module `effects` carries them out.

use super::annotation::{AnnotationWrite, ObjectEvent};
use crate::extender_logic::Reply;
use crate::scheduler::PreemptionCandidate;
use common::model::{ForeignClaim, NodeName, ObjectWrite, PodKey, ReservationId, Text, Uid};
use jiff::Timestamp;

/// A pod has its UID beside its name, because another pod may have the name by now; each write of a pod has the UID as a
/// precondition.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Bind a pod to a node and stamp it with the reservation that it takes, in one write.
    Bind {
        pod: PodKey,
        uid: Uid,
        node: NodeName,
        seat: Option<ReservationId>,
    },
    /// GET a pod whose binding had no clear answer, and repeat that until the API server answers.
    Find {
        pod: PodKey,
        uid: Uid,
        node: NodeName,
    },
    /// Write into the PodScheduled condition why the pod is not scheduled, and the nomination in the same write. The reason is
    /// `Unschedulable`, `SchedulerError` or `WaitingForReservedNode`; `since` is the transition time, if the condition turns false.
    Condition {
        pod: PodKey,
        uid: Uid,
        generation: i64,
        reason: &'static str,
        message: String,
        since: Option<Timestamp>,
        nomination: Nomination,
    },
    /// Write `status.nominatedNodeName` of a pod, and nothing else; `None` clears the field.
    Nominate {
        pod: PodKey,
        uid: Uid,
        node: Option<NodeName>,
    },
    /// Set the condition DisruptionTarget of a preemption victim, and delete the pod.
    Evict(Box<Eviction>),
    /// Write what a pod's claims need before its binding. Controllers do the rest, and watches show it. `id` is the number of this
    /// try, which the input repeats.
    WriteObjects {
        pod: PodKey,
        uid: Uid,
        id: u64,
        writes: Vec<ObjectWrite>,
    },
    /// Create, extend, shorten or release a reservation.
    Annotate(Box<AnnotationWrite>),
    WriteEvent(Box<ObjectEvent>),
    /// Read the metadata of an owner that is not of a built-in kind.
    ReadOwner(Box<ForeignClaim>),
    WritePodEvent {
        pod: PodKey,
        uid: Uid,
        scheduler_name: Text,
        event: PodEvent,
        at: Timestamp,
    },
    /// Ask extenders to filter and to score the nodes that passed our own filters.
    AskExtenders {
        pod: PodKey,
        uid: Uid,
        nodes: Vec<NodeName>,
    },
    /// Ask extenders about the nodes where pods would have to go, the best first.
    AskExtendersAboutVictims {
        pod: PodKey,
        uid: Uid,
        candidates: Vec<PreemptionCandidate>,
    },
    /// List all nodes and pods, to compare them with the belief.
    List,
    /// Answer a question of a scheduler.
    Reply {
        id: u64,
        reply: Reply,
    },
}

/// What an effect is about. Effects with the same subject are carried out one at a time, in order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    Pod(PodKey),
    /// A question of a scheduler, by its number.
    Question(u64),
    Node(NodeName),
    /// Another object, which is only read, or named in events.
    ObjectRef(Uid),
    Belief,
}

impl Effect {
    pub fn subject(&self) -> Subject {
        match self {
            Self::Bind { pod, .. }
            | Self::Find { pod, .. }
            | Self::AskExtenders { pod, .. }
            | Self::AskExtendersAboutVictims { pod, .. }
            | Self::Condition { pod, .. }
            | Self::Nominate { pod, .. }
            | Self::WriteObjects { pod, .. }
            | Self::WritePodEvent { pod, .. } => Subject::Pod(pod.clone()),
            Self::Evict(eviction) => Subject::Pod(eviction.victim.clone()),
            Self::Reply { id, .. } => Subject::Question(*id),
            Self::List => Subject::Belief,
            Self::Annotate(annotation) => Subject::Node(annotation.node.clone()),
            Self::WriteEvent(event) => Subject::ObjectRef(event.about.uid.clone()),
            Self::ReadOwner(claim) => Subject::ObjectRef(claim.uid.clone()),
        }
    }
}

/// What becomes of a pod's nomination (`status.nominatedNodeName`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nomination {
    Keep,
    Change(Option<NodeName>),
}

/// The deletion of a preemption victim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Eviction {
    pub victim: PodKey,
    /// Its UID; a precondition of the writes.
    pub victim_uid: Uid,
    pub generation: i64,
    /// The transition time of its condition.
    pub since: Timestamp,
    pub preemptor: PodKey,
    pub preemptor_uid: Uid,
    pub scheduler_name: Text,
    pub node: NodeName,
}

/// The events that a scheduler records about pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PodEvent {
    Scheduled {
        node: NodeName,
    },
    /// No node was found, or something failed.
    FailedScheduling {
        message: String,
    },
    /// The pod had to go for one of higher priority. `in_memory`: it was not bound yet, so that only this daemon knew of its node.
    Preempted {
        by: PodKey,
        by_uid: Uid,
        node: NodeName,
        in_memory: bool,
    },
}
