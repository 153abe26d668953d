//! Everything that the daemon can wish for. `effects` carries it out.

use super::reserving::{Annotation, Report};
use crate::desk::Reply;
use common::model::ids::Text;
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
    },
    /// Make, extend or release a reservation.
    Annotate(Box<Annotation>),
    /// Record an event about anything.
    Report(Box<Report>),
    /// Record an event about a pod.
    Record {
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
    /// Something else that is only talked about.
    Thing(Uid),
}

impl Effect {
    /// What it is about.
    pub fn subject(&self) -> Subject {
        match self {
            Self::Bind { pod, .. }
            | Self::Find { pod, .. }
            | Self::Ask { pod, .. }
            | Self::Condition { pod, .. }
            | Self::Record { pod, .. } => Subject::Pod(pod.clone()),
            Self::Reply { id, .. } => Subject::Question(*id),
            Self::Annotate(annotation) => Subject::Node(annotation.node.clone()),
            Self::Report(report) => Subject::Thing(report.about.uid.clone()),
        }
    }
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
}
