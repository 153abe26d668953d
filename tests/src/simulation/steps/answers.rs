//! How a daemon handles the API server's answers: the same as `daemon::effects` does with a client's.

use super::calls::{Call, Job, Reply};
use super::daemon::{GOOD_FOR, MARGIN};
use super::foreign::owner_answer;
use super::sim::{Action, Sim};
use common::api::reservation::patch::ObservedNode;
use common::cluster::{Event, OwnerAnswer};
use common::model::{NodeName, Uid};
use daemon::effects::reserve::{Plan, plan};
use daemon::state::{
    AnnotationOutcome, AnnotationWrite, BindingOutcome, Effect, EvictionOutcome, ExtenderAnswer, Input,
    Nomination, WriteRefusal,
};
use jiff::Timestamp;
use std::time::Duration;

/// The values of `daemon::effects`.
const TRIES_MAX: u32 = 8;
const PAUSE: Duration = Duration::from_millis(60);
const FIND_PAUSE: Duration = Duration::from_secs(1);
const STATUS_TRIES_MAX: u32 = 4;
const STATUS_PAUSE: Duration = Duration::from_millis(60);

/// What follows from an answer.
enum NextStep {
    /// The request is finished; this is the input for the state.
    Finish(Option<Input>),
    /// Send the same or another request after a pause.
    Retry(Job, Duration),
}

impl Sim {
    pub(super) fn answer_daemon(&mut self, index: usize, id: u64) {
        let Some(Call { job, reply, .. }) = self.calls.get(&id) else { return };
        let is_good = self.daemons[index].good_until.is_none_or(|until| self.api.now < until);
        if let (true, Job::Publish(_, begun), Some(Reply::Done(_))) = (is_good, job, reply) {
            self.daemons[index].good_until = Some(*begun + (GOOD_FOR - MARGIN));
        }
        match next_step(job.clone(), reply.clone()) {
            NextStep::Retry(job, pause) => {
                let more = self.millis(0..50);
                if let Some(call) = self.calls.get_mut(&id) {
                    call.job = job;
                }
                self.after(pause + more, Action::Retry(id));
            }
            NextStep::Finish(input) => {
                let Some(call) = self.calls.remove(&id) else { return };
                if let Some(subject) = call.subject {
                    self.daemons[index].running -= 1;
                    self.daemons[index].outbox.done(&subject);
                }
                if let Some(Input::Binding {
                    uid,
                    outcome: BindingOutcome::Lost | BindingOutcome::Refused { .. },
                    ..
                }) = &input
                {
                    self.api.rules.record_failed_bind(self.who(index), uid.clone());
                }
                if let Some(Input::Cluster(event)) = &input
                    && let Event::OwnerRead(_, OwnerAnswer::Found(_)) = &**event
                {
                    self.api.rules.record_owner_read(self.who(index));
                }
                match input {
                    Some(input) => self.input(index, input),
                    None => self.begin(index),
                }
            }
        }
    }
}

fn next_step(job: Job, reply: Option<Reply>) -> NextStep {
    match job {
        Job::Bind { pod, uid, .. } => {
            let outcome = binding_outcome(reply.map(Reply::by_code).as_ref());
            NextStep::Finish(Some(Input::Binding { pod, uid, outcome }))
        }
        Job::Find { pod, uid, node } => match found_outcome(&uid, &node, reply) {
            Some(outcome) => NextStep::Finish(Some(Input::Binding { pod, uid, outcome })),
            None => NextStep::Retry(Job::Find { pod, uid, node }, FIND_PAUSE),
        },
        Job::Look { annotation, tries, wall } => plan_write(annotation, tries, wall, reply),
        Job::Patch { annotation, tries, wall, .. } => match reply {
            Some(Reply::Done(version)) => finish_write(annotation, AnnotationOutcome::Done { version }),
            // A refusal by a policy is not a failed test of the patch.
            Some(Reply::Denied(code)) => finish_write(annotation, refusal_outcome(code)),
            Some(Reply::Refused(code)) if is_certain(code) && !matches!(code, 409 | 422) => {
                finish_write(annotation, refusal_outcome(code))
            }
            _ => read_again(annotation, tries, wall),
        },
        // Retry if the server refuses with 429 or 5xx, not if it does not answer.
        Job::PatchStatus { pod, uid, condition, nomination, tries }
            if tries < STATUS_TRIES_MAX
                && matches!(reply, Some(Reply::Refused(code)) if !is_certain(code)) =>
        {
            let job = Job::PatchStatus { pod, uid, condition, nomination, tries: tries + 1 };
            NextStep::Retry(job, STATUS_PAUSE * tries)
        }
        Job::PatchStatus { uid, nomination, .. } => {
            let version = match reply {
                Some(Reply::Done(version)) => Some(version),
                _ => None,
            };
            NextStep::Finish((nomination != Nomination::Keep).then_some(Input::Nominated { uid, version }))
        }
        Job::Evict(eviction) => {
            let outcome = match reply {
                Some(Reply::Done(_)) => EvictionOutcome::Begun,
                Some(Reply::Refused(404 | 409)) => EvictionOutcome::Gone,
                _ => EvictionOutcome::Failed { why: "no answer".into() },
            };
            NextStep::Finish(Some(Input::Evicted { eviction, outcome }))
        }
        Job::AskExtenders(effect) => NextStep::Finish(extender_answer(*effect)),
        Job::ReadOwner(claim) => {
            NextStep::Finish(Some(Input::Cluster(Box::new(Event::OwnerRead(claim, owner_answer(reply))))))
        }
        Job::WriteEvent(_) | Job::Publish(..) | Job::CommandRequest(_) => NextStep::Finish(None),
    }
}

fn binding_outcome(reply: Option<&Reply>) -> BindingOutcome {
    match reply {
        Some(Reply::Done(_)) => BindingOutcome::Bound,
        Some(Reply::Refused(404)) => BindingOutcome::Lost,
        Some(Reply::Refused(code)) if is_certain(*code) && *code != 409 => {
            BindingOutcome::Refused { why: format!("refused with {code}") }
        }
        _ => BindingOutcome::Unknown,
    }
}

/// The outcome of a binding by the pod that was read; `None` if there was no answer.
fn found_outcome(uid: &Uid, node: &NodeName, reply: Option<Reply>) -> Option<BindingOutcome> {
    Some(match reply {
        Some(Reply::Pod(Some((found, _)))) if found != *uid => BindingOutcome::Lost,
        Some(Reply::Pod(Some((_, Some(bound))))) if bound == *node => BindingOutcome::Bound,
        Some(Reply::Pod(Some((_, Some(_))))) | Some(Reply::Pod(None)) => BindingOutcome::Lost,
        Some(Reply::Pod(Some((_, None)))) => {
            BindingOutcome::Refused { why: "the API server did not bind the pod".into() }
        }
        _ => return None,
    })
}

fn is_certain(code: u16) -> bool {
    (400..500).contains(&code) && !matches!(code, 408 | 429)
}

fn refusal_outcome(code: u16) -> AnnotationOutcome {
    let why = format!("refused with {code}");
    let refusal = match code {
        404 => WriteRefusal::Final,
        // The role allows this, so a policy refused it.
        403 => WriteRefusal::Denied,
        _ => WriteRefusal::Later,
    };
    AnnotationOutcome::Refused { why, refusal }
}

fn finish_write(annotation: Box<AnnotationWrite>, outcome: AnnotationOutcome) -> NextStep {
    NextStep::Finish(Some(Input::Annotated { annotation, outcome }))
}

fn read_again(annotation: Box<AnnotationWrite>, tries: u32, wall: Timestamp) -> NextStep {
    if tries >= TRIES_MAX {
        return finish_write(annotation, AnnotationOutcome::Unknown { why: "no answer".into() });
    }
    NextStep::Retry(Job::Look { annotation, tries: tries + 1, wall }, PAUSE * tries)
}

/// Plans a write to a node that was just read, with the daemon's own function.
fn plan_write(
    annotation: Box<AnnotationWrite>,
    tries: u32,
    wall: Timestamp,
    reply: Option<Reply>,
) -> NextStep {
    match reply {
        Some(Reply::Node(snapshot)) => {
            let seen = ObservedNode {
                uid: &snapshot.uid,
                version: &snapshot.version,
                annotations: &snapshot.annotations,
            };
            match plan(&seen, &annotation, wall) {
                Plan::Done => {
                    let version = snapshot.version.parse().unwrap_or(0);
                    finish_write(annotation, AnnotationOutcome::Done { version })
                }
                Plan::Never(why) => {
                    finish_write(annotation, AnnotationOutcome::Refused { why, refusal: WriteRefusal::Final })
                }
                Plan::Patch(patch) => {
                    NextStep::Retry(Job::Patch { annotation, tries, wall, patch }, Duration::ZERO)
                }
            }
        }
        Some(Reply::Refused(code)) if is_certain(code) => finish_write(annotation, refusal_outcome(code)),
        _ => read_again(annotation, tries, wall),
    }
}

/// There are no extenders: all nodes pass.
fn extender_answer(effect: Effect) -> Option<Input> {
    match effect {
        Effect::AskExtenders { pod, uid, nodes } => {
            let answer = Ok(ExtenderAnswer { passed: nodes, ..ExtenderAnswer::default() });
            Some(Input::ExtenderAnswer { pod, uid, answer })
        }
        Effect::AskExtendersAboutVictims { pod, uid, candidates } => {
            let answer = Ok(candidates.into_iter().map(|one| (one.node, one.victims)).collect());
            Some(Input::ExtenderVictims { pod, uid, answer })
        }
        _ => None,
    }
}
