//! Requests to the API server ([`Sim::call`]): each arrives or not, is carried out or not, and its answer comes back or not.

use super::api::{Actor, WrittenEvent};
use super::command::CommandRequest;
use super::faults::RequestOutcome;
use super::patch::NodeSnapshot;
use super::sim::{Action, Sim};
use common::model::owner::ForeignClaim;
use common::model::pod::UnscheduledCondition;
use common::model::{Moment, NodeName, PodKey, Replica, ReservationId, Uid, Workload};
use daemon::state::{AnnotationWrite, Effect, Eviction, Nomination, Subject};
use jiff::Timestamp;
use serde_json::Value;
use std::time::Duration;

/// The content of a request.
#[derive(Clone, Debug)]
pub(super) enum Job {
    Bind {
        pod: PodKey,
        uid: Uid,
        node: NodeName,
        seat: Option<ReservationId>,
    },
    Find {
        pod: PodKey,
        uid: Uid,
        node: NodeName,
    },
    /// Reads a node to change its annotations; `tries` counts the attempts.
    Look {
        annotation: Box<AnnotationWrite>,
        tries: u32,
        wall: Timestamp,
    },
    Patch {
        annotation: Box<AnnotationWrite>,
        tries: u32,
        wall: Timestamp,
        patch: Value,
    },
    PatchStatus {
        pod: PodKey,
        uid: Uid,
        condition: Option<Box<UnscheduledCondition>>,
        nomination: Nomination,
        tries: u32,
    },
    Evict(Box<Eviction>),
    AskExtenders(Box<Effect>),
    ReadOwner(Box<ForeignClaim>),
    WriteEvent(Option<WrittenEvent>),
    /// Writes a replica's Lease; with the time of sending.
    Publish(Box<Replica>, Duration),
    CommandRequest(CommandRequest),
}

/// The API server's answer.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    Done(u64),
    Node(NodeSnapshot),
    /// The UID and the node of the pod with this name.
    Pod(Option<(Uid, Option<NodeName>)>),
    Refused(u16),
    /// An admission policy refused the request, and the message says so.
    Denied(u16),
    /// An owner of a kind that the daemons do not watch.
    Owner(Box<Workload>),
    /// The answer to a read of the command.
    Read(kubectl_reserve::flow::recreate::Answer),
}

/// One request with its state.
pub(super) struct Call {
    pub(super) who: Actor,
    pub(super) job: Job,
    pub(super) subject: Option<Subject>,
    outcome: RequestOutcome,
    back: Duration,
    /// The answer; `None` if it is lost.
    pub(super) reply: Option<Reply>,
    pub(super) has_landed: bool,
}

impl Reply {
    /// The same answer for a client that looks only at the code.
    pub(super) fn by_code(self) -> Self {
        match self {
            Self::Denied(code) => Self::Refused(code),
            other => other,
        }
    }
}

impl Job {
    /// The request for an effect of a daemon that has seen nodes up to revision `seen`.
    pub(super) fn of(effect: Effect, wall: Timestamp, seen: u64) -> Self {
        match effect {
            Effect::Bind { pod, uid, node, seat } => Self::Bind { pod, uid, node, seat },
            Effect::Find { pod, uid, node } => Self::Find { pod, uid, node },
            Effect::Annotate(annotation) => Self::Look { annotation, tries: 1, wall },
            Effect::Condition { pod, uid, reason, message, since, nomination, .. } => {
                let condition = UnscheduledCondition {
                    since: since.map(Moment::of),
                    reason: reason.into(),
                    message: message.into(),
                };
                Self::PatchStatus { pod, uid, condition: Some(Box::new(condition)), nomination, tries: 1 }
            }
            Effect::Nominate { pod, uid, node } => Self::PatchStatus {
                pod,
                uid,
                condition: None,
                nomination: Nomination::Change(node),
                tries: 1,
            },
            Effect::Evict(eviction) => Self::Evict(eviction),
            Effect::WriteEvent(report) => {
                let (uid, answers, reason) = (report.about.uid, report.answers, report.reason);
                Self::WriteEvent(Some(WrittenEvent { uid, answers, reason, at: seen }))
            }
            Effect::WritePodEvent { .. } => Self::WriteEvent(None),
            Effect::ReadOwner(claim) => Self::ReadOwner(claim),
            other => Self::AskExtenders(Box::new(other)),
        }
    }

    /// Whether it changes a pod or a node (conditions, events and Leases do not count).
    pub(super) fn is_write(&self) -> bool {
        match self {
            Self::Bind { .. } | Self::Patch { .. } | Self::Evict(_) => true,
            Self::CommandRequest(command_request) => command_request.is_write(),
            _ => false,
        }
    }
}

impl Sim {
    /// Sends a new request.
    pub(super) fn call(&mut self, who: Actor, job: Job, subject: Option<Subject>) {
        let id = self.next_id();
        let call = Call {
            who,
            job,
            subject,
            outcome: RequestOutcome::Good,
            back: Duration::ZERO,
            reply: None,
            has_landed: false,
        };
        self.calls.insert(id, call);
        self.send(id);
    }

    /// Sends a request, for the first time or again.
    pub(super) fn send(&mut self, id: u64) {
        let Some((who, is_write)) = self.calls.get(&id).map(|call| (call.who, call.job.is_write())) else {
            return;
        };
        let (outcome, there, back) = self.request_outcome(who, is_write);
        if let Some(call) = self.calls.get_mut(&id) {
            (call.outcome, call.back, call.reply, call.has_landed) = (outcome, back, None, false);
        }
        if outcome == RequestOutcome::Before {
            let pause = self.millis(100..9_000);
            self.after(pause, Action::Answer(id));
            self.crash_if_planned(who);
        } else {
            self.after(there, Action::Land(id));
        }
    }

    pub(super) fn retry(&mut self, id: u64) {
        let is_here = self.calls.get(&id).is_some_and(|call| self.is_alive(call.who));
        if is_here {
            self.send(id);
        } else {
            self.calls.remove(&id);
        }
    }

    /// A request arrives at the API server.
    pub(super) fn land(&mut self, id: u64) {
        let Some(call) = self.calls.get(&id) else { return };
        let (who, job, outcome, back) = (call.who, call.job.clone(), call.outcome, call.back);
        let reply = match outcome {
            RequestOutcome::Refused(code) => Reply::Refused(code),
            _ => self.carry_out(who, &job).unwrap_or_else(|refused| Reply::Refused(refused.0)),
        };
        if outcome != RequestOutcome::Good {
            self.api.note(format_args!("{outcome:?} for {who:?}"));
        }
        if let Some(call) = self.calls.get_mut(&id) {
            call.has_landed = true;
            call.reply = (outcome != RequestOutcome::After).then_some(reply);
        }
        let back = if outcome == RequestOutcome::After { self.millis(50..6_000) } else { back };
        self.after(back, Action::Answer(id));
        self.crash_if_planned(who);
    }

    /// Crashes the sender, if a planned fault says so.
    fn crash_if_planned(&mut self, who: Actor) {
        if self.scenario.crash_after_write != Some(who) {
            return;
        }
        self.scenario.crash_after_write = None;
        match who {
            Actor::Daemon(index, _) => self.crash(index, "dies by plan"),
            Actor::Command(index) => self.kill(index),
            Actor::Other => {}
        }
    }

    /// A process died: each of its requests that has not arrived is dropped with a chance of one half, and the answers are not
    /// heard.
    pub(super) fn abandon(&mut self, who: Actor) {
        let open: Vec<u64> = self
            .calls
            .iter()
            .filter(|(_, call)| call.who == who && !call.has_landed)
            .map(|(id, _)| *id)
            .collect();
        for id in open {
            if self.rng.bool() {
                self.calls.remove(&id);
            }
        }
    }

    pub(super) fn is_alive(&self, who: Actor) -> bool {
        match who {
            Actor::Daemon(index, life) => self.daemons[index].is_here(life),
            Actor::Command(index) => self.commands[index].is_alive,
            Actor::Other => true,
        }
    }

    /// An answer arrives at the sender.
    pub(super) fn answer(&mut self, id: u64) {
        let Some(call) = self.calls.get(&id) else { return };
        match call.who {
            who if !self.is_alive(who) => drop(self.calls.remove(&id)),
            Actor::Daemon(index, _) if self.daemons[index].paused > self.api.now => {
                let wait = self.daemons[index].paused - self.api.now;
                self.after(wait, Action::Answer(id));
            }
            Actor::Daemon(index, _) => self.answer_daemon(index, id),
            Actor::Command(index) => self.answer_command(index, id),
            Actor::Other => drop(self.calls.remove(&id)),
        }
    }
}
