//! Everything that the daemon can wish for. `effects` carries it out.

use super::reserving::{Annotation, ObjectEvent};
use crate::extender_logic::Reply;
use crate::scheduler::Candidate;
use common::model::ids::Text;
use common::model::owner::ForeignClaim;
use common::model::storage::ClaimRef;
use common::model::{NodeName, PodKey, ReservationId, Uid};
use jiff::Timestamp;

/// One wish.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Bind a pod to a node, and say which reservation it takes, in one write.
    Bind {
        /// The pod.
        pod: PodKey,
        /// Which pod of that name; a precondition of the write.
        uid: Uid,
        /// The node.
        node: NodeName,
        /// The reservation that it takes.
        seat: Option<ReservationId>,
    },
    /// Look at a pod whose binding is unknown, until there is an answer.
    Find {
        /// The pod.
        pod: PodKey,
        /// Which pod of that name.
        uid: Uid,
        /// The node that it should be bound to.
        node: NodeName,
    },
    /// Tell the pod, in its PodScheduled condition, why it has no place.
    Condition {
        /// The pod.
        pod: PodKey,
        /// Which pod of that name; a precondition of the write.
        uid: Uid,
        /// The generation of the pod that was judged.
        generation: i64,
        /// `Unschedulable` or `SchedulerError`.
        reason: &'static str,
        /// The whole message.
        message: String,
        /// When the condition turned false, if it does so now.
        since: Option<Timestamp>,
        /// Which node it is nominated to from now on, in the same write.
        nomination: Nomination,
    },
    /// Write down which node a pod is nominated to, and nothing else.
    Nominate {
        /// The pod.
        pod: PodKey,
        /// Which pod of that name; a precondition of the write.
        uid: Uid,
        /// The node, or none.
        node: Option<NodeName>,
    },
    /// Tell a pod that it has to go for a more important one, and delete it.
    Evict(Box<Eviction>),
    /// Write down which volumes a pod's claims get. What becomes of that is seen in the cluster.
    BindVolumes {
        /// The pod.
        pod: PodKey,
        /// Which pod of that name.
        uid: Uid,
        /// The number of this try; the answer repeats it.
        id: u64,
        /// What is to be written, in this order.
        writes: Vec<VolumeWrite>,
    },
    /// Make, extend or release a reservation.
    Annotate(Box<Annotation>),
    /// Record an event about anything.
    WriteEvent(Box<ObjectEvent>),
    /// Read the metadata of an owner of a foreign kind.
    ReadOwner(Box<ForeignClaim>),
    /// Record an event about a pod.
    WritePodEvent {
        /// The pod.
        pod: PodKey,
        /// Which pod of that name.
        uid: Uid,
        /// The scheduler that speaks.
        scheduler_name: Text,
        /// What happened.
        event: PodEvent,
        /// When.
        at: Timestamp,
    },
    /// Ask extenders about a pod.
    Ask {
        /// The pod.
        pod: PodKey,
        /// Which pod of that name.
        uid: Uid,
        /// The nodes that can have it.
        nodes: Vec<NodeName>,
    },
    /// Ask extenders who may have to go for a pod.
    AskVictims {
        /// The pod.
        pod: PodKey,
        /// Which pod of that name.
        uid: Uid,
        /// The nodes where others would have to go, the best first.
        candidates: Vec<Candidate>,
    },
    /// List all nodes and pods, to compare them with what is believed.
    List,
    /// Answer a question.
    Reply {
        /// Which question.
        id: u64,
        /// The answer.
        reply: Reply,
    },
}

/// What an effect is about. Effects about the same thing are carried out one at a time, in order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A pod.
    Pod(PodKey),
    /// A question that somebody asked.
    Question(u64),
    /// A node.
    Node(NodeName),
    /// Something else that is only read or talked about.
    ObjectRef(Uid),
    /// What is believed as a whole.
    Belief,
}

impl Effect {
    /// What it is about.
    pub fn subject(&self) -> Subject {
        match self {
            Self::Bind { pod, .. }
            | Self::Find { pod, .. }
            | Self::Ask { pod, .. }
            | Self::AskVictims { pod, .. }
            | Self::Condition { pod, .. }
            | Self::Nominate { pod, .. }
            | Self::BindVolumes { pod, .. }
            | Self::WritePodEvent { pod, .. } => Subject::Pod(pod.clone()),
            Self::Evict(eviction) => Subject::Pod(eviction.victim.clone()),
            Self::Reply { id, .. } => Subject::Question(*id),
            Self::List => Subject::Belief,
            Self::Annotate(annotation) => Subject::Node(annotation.node.clone()),
            Self::WriteEvent(report) => Subject::ObjectRef(report.about.uid.clone()),
            Self::ReadOwner(claim) => Subject::ObjectRef(claim.uid.clone()),
        }
    }
}

/// What becomes of the node that a pod is nominated to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nomination {
    /// It stays as it is.
    Keep,
    /// From now on it is this one, or none.
    Change(Option<NodeName>),
}

/// A pod that has to go for a more important one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Eviction {
    /// The pod that has to go.
    pub victim: PodKey,
    /// Which pod of that name; a precondition of the writes.
    pub victim_uid: Uid,
    /// The generation of it that was judged.
    pub generation: i64,
    /// When its condition turned true, that is, now.
    pub since: Timestamp,
    /// The pod that it goes for.
    pub preemptor: PodKey,
    /// Which pod of that name.
    pub preemptor_uid: Uid,
    /// The scheduler that decided so.
    pub scheduler_name: Text,
    /// The node that room is made on.
    pub node: NodeName,
}

/// One write about volumes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VolumeWrite {
    /// A volume is to name the claim that has it.
    Volume {
        /// The volume.
        name: Text,
        /// The version of it that was judged; a precondition of the write.
        version: u64,
        /// The claim.
        claim: ClaimRef,
        /// The version of the claim that was judged.
        claim_version: u64,
        /// Whether it is us who chose the volume, rather than the person who made it.
        is_ours: bool,
    },
    /// A claim is to name the node for which its volume is made.
    Claim {
        /// The claim; its UID is a precondition of the write.
        claim: ClaimRef,
        /// The version of it that was judged; a precondition of the write.
        version: u64,
        /// The node.
        node: NodeName,
    },
}

/// What can happen to a pod here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PodEvent {
    /// It was bound.
    Scheduled {
        /// Where.
        node: NodeName,
    },
    /// It has no place.
    FailedScheduling {
        /// Why.
        message: String,
    },
    /// It had to go for a more important one.
    Preempted {
        /// The pod that it goes for.
        by: PodKey,
        /// Which pod of that name.
        by_uid: Uid,
        /// Where.
        node: NodeName,
        /// Whether it was not bound there yet, so that only we knew of it.
        in_memory: bool,
    },
}
