//! Requests on their way: each arrives or not, is carried out or not, and its answer comes back or not.

use super::api::{Told, Who};
use super::command::Errand;
use super::faults::Luck;
use super::patch::Sent;
use super::sim::{Action, Sim};
use common::model::owner::ForeignClaim;
use common::model::pod::Unscheduled;
use common::model::{Moment, NodeName, PodKey, Replica, ReservationId, Uid, Workload};
use daemon::state::{Annotation, Effect, Eviction, Nomination, Subject};
use jiff::Timestamp;
use serde_json::Value;
use std::time::Duration;

/// What is asked for.
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
    /// Looks at a node to change its annotations, for the so many-th time.
    Look {
        annotation: Box<Annotation>,
        tries: u32,
        wall: Timestamp,
    },
    Patch {
        annotation: Box<Annotation>,
        tries: u32,
        wall: Timestamp,
        patch: Value,
    },
    Tell {
        pod: PodKey,
        uid: Uid,
        told: Option<Box<Unscheduled>>,
        nomination: Nomination,
        tries: u32,
    },
    Evict(Box<Eviction>),
    Ask(Box<Effect>),
    ReadOwner(Box<ForeignClaim>),
    Talk(Option<Told>),
    /// What a replica has seen, and when it set out.
    Publish(Box<Replica>, Duration),
    Errand(Errand),
}

/// What the API server answers.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    Done(u64),
    Node(Sent),
    /// The pod of that name: its UID and its node.
    Pod(Option<(Uid, Option<NodeName>)>),
    Refused(u16),
    /// An admission policy refused it, and says so.
    Denied(u16),
    /// An owner of a kind that nobody watches.
    Owner(Box<Workload>),
    /// Whatever the command reads.
    Read(kubectl_reserve::flow::recreate::Answer),
}

/// One request.
pub(super) struct Call {
    pub(super) who: Who,
    pub(super) job: Job,
    pub(super) subject: Option<Subject>,
    luck: Luck,
    back: Duration,
    /// The answer; none if it is lost.
    pub(super) reply: Option<Reply>,
    pub(super) has_landed: bool,
}

impl Reply {
    /// The same for whoever looks at the code alone.
    pub(super) fn by_code(self) -> Self {
        match self {
            Self::Denied(code) => Self::Refused(code),
            other => other,
        }
    }
}

impl Job {
    /// The request that an effect comes to, of one who has seen nodes up to a revision.
    pub(super) fn of(effect: Effect, wall: Timestamp, seen: u64) -> Self {
        match effect {
            Effect::Bind { pod, uid, node, seat } => Self::Bind { pod, uid, node, seat },
            Effect::Find { pod, uid, node } => Self::Find { pod, uid, node },
            Effect::Annotate(annotation) => Self::Look { annotation, tries: 1, wall },
            Effect::Condition { pod, uid, reason, message, since, nomination, .. } => {
                let told = Unscheduled {
                    since: since.map(Moment::of),
                    reason: reason.into(),
                    message: message.into(),
                };
                Self::Tell { pod, uid, told: Some(Box::new(told)), nomination, tries: 1 }
            }
            Effect::Nominate { pod, uid, node } => {
                Self::Tell { pod, uid, told: None, nomination: Nomination::Change(node), tries: 1 }
            }
            Effect::Evict(eviction) => Self::Evict(eviction),
            Effect::WriteEvent(report) => {
                let (uid, answers, reason) = (report.about.uid, report.answers, report.reason);
                Self::Talk(Some(Told { uid, answers, reason, at: seen }))
            }
            Effect::WritePodEvent { .. } => Self::Talk(None),
            Effect::ReadOwner(claim) => Self::ReadOwner(claim),
            other => Self::Ask(Box::new(other)),
        }
    }

    /// Whether it alters anything that matters.
    pub(super) fn is_write(&self) -> bool {
        match self {
            Self::Bind { .. } | Self::Patch { .. } | Self::Evict(_) => true,
            Self::Errand(errand) => errand.is_write(),
            _ => false,
        }
    }
}

impl Sim {
    /// A request sets out.
    pub(super) fn call(&mut self, who: Who, job: Job, subject: Option<Subject>) {
        let id = self.ticket();
        let call = Call {
            who,
            job,
            subject,
            luck: Luck::Good,
            back: Duration::ZERO,
            reply: None,
            has_landed: false,
        };
        self.calls.insert(id, call);
        self.send(id);
    }

    /// Sets out, once or again.
    pub(super) fn send(&mut self, id: u64) {
        let Some((who, is_write)) = self.calls.get(&id).map(|call| (call.who, call.job.is_write())) else {
            return;
        };
        let (luck, there, back) = self.luck(who, is_write);
        if let Some(call) = self.calls.get_mut(&id) {
            (call.luck, call.back, call.reply, call.has_landed) = (luck, back, None, false);
        }
        if luck == Luck::Before {
            let pause = self.millis(100..9_000);
            self.after(pause, Action::Answer(id));
            self.doom(who);
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

    /// A request arrives.
    pub(super) fn land(&mut self, id: u64) {
        let Some(call) = self.calls.get(&id) else { return };
        let (who, job, luck, back) = (call.who, call.job.clone(), call.luck, call.back);
        let reply = match luck {
            Luck::Refused(code) => Reply::Refused(code),
            _ => self.carry_out(who, &job).unwrap_or_else(|refused| Reply::Refused(refused.0)),
        };
        if luck != Luck::Good {
            self.api.note(format_args!("{luck:?} for {who:?}"));
        }
        if let Some(call) = self.calls.get_mut(&id) {
            call.has_landed = true;
            call.reply = (luck != Luck::After).then_some(reply);
        }
        let back = if luck == Luck::After { self.millis(50..6_000) } else { back };
        self.after(back, Action::Answer(id));
        self.doom(who);
    }

    /// Whoever is to die at this point does.
    fn doom(&mut self, who: Who) {
        if self.scenario.doomed != Some(who) {
            return;
        }
        self.scenario.doomed = None;
        match who {
            Who::Daemon(index, _) => self.crash(index, "dies by plan"),
            Who::Command(index) => self.kill(index),
            Who::Other => {}
        }
    }

    /// Somebody died: what had not arrived may or may not arrive all the same; nobody hears of it.
    pub(super) fn abandon(&mut self, who: Who) {
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

    pub(super) fn is_alive(&self, who: Who) -> bool {
        match who {
            Who::Daemon(index, life) => self.daemons[index].is_here(life),
            Who::Command(index) => self.commands[index].is_alive,
            Who::Other => true,
        }
    }

    /// An answer arrives.
    pub(super) fn answer(&mut self, id: u64) {
        let Some(call) = self.calls.get(&id) else { return };
        match call.who {
            who if !self.is_alive(who) => drop(self.calls.remove(&id)),
            Who::Daemon(index, _) if self.daemons[index].paused > self.api.now => {
                let wait = self.daemons[index].paused - self.api.now;
                self.after(wait, Action::Answer(id));
            }
            Who::Daemon(index, _) => self.answer_daemon(index, id),
            Who::Command(index) => self.answer_command(index, id),
            Who::Other => drop(self.calls.remove(&id)),
        }
    }
}
