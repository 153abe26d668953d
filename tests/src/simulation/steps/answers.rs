//! What a daemon makes of answers: the same as `daemon::effects` makes of a client's.

use super::calls::{Call, Job, Reply};
use super::daemon::{GOOD_FOR, MARGIN};
use super::foreign::answered;
use super::sim::{Action, Sim};
use common::api::reservation::patch::Seen;
use common::cluster::{Event, OwnerAnswer};
use common::model::{NodeName, Uid};
use daemon::effects::reserve::{Plan, plan};
use daemon::state::{Annotated, Annotation, Binding, Effect, Evicted, Input, Nomination, Opinions, Refusal};
use jiff::Timestamp;
use std::time::Duration;

/// As in `daemon::effects`.
const TRIES_MAX: u32 = 8;
const PAUSE: Duration = Duration::from_millis(60);
const FIND_PAUSE: Duration = Duration::from_secs(1);
const TELLS_MAX: u32 = 4;
const TELL_PAUSE: Duration = Duration::from_millis(60);

/// What to do with an answer.
enum Next {
    /// The state is to know this.
    Tell(Option<Input>),
    /// The same or another request, after a pause.
    Again(Job, Duration),
}

impl Sim {
    pub(super) fn answer_daemon(&mut self, index: usize, id: u64) {
        let Some(Call { job, reply, .. }) = self.calls.get(&id) else { return };
        let is_good = self.daemons[index].good_until.is_none_or(|until| self.api.now < until);
        if let (true, Job::Publish(_, begun), Some(Reply::Done(_))) = (is_good, job, reply) {
            self.daemons[index].good_until = Some(*begun + (GOOD_FOR - MARGIN));
        }
        match meaning(job.clone(), reply.clone()) {
            Next::Again(job, pause) => {
                let more = self.millis(0..50);
                if let Some(call) = self.calls.get_mut(&id) {
                    call.job = job;
                }
                self.after(pause + more, Action::Retry(id));
            }
            Next::Tell(input) => {
                let Some(call) = self.calls.remove(&id) else { return };
                if let Some(subject) = call.subject {
                    self.daemons[index].running -= 1;
                    self.daemons[index].outbox.done(&subject);
                }
                if let Some(Input::Binding {
                    uid, outcome: Binding::Lost | Binding::Refused { .. }, ..
                }) = &input
                {
                    self.api.rules.forgot(self.who(index), uid.clone());
                }
                if let Some(Input::Cluster(event)) = &input
                    && let Event::OwnerRead(_, OwnerAnswer::Found(_)) = &**event
                {
                    self.api.rules.read_owner(self.who(index));
                }
                match input {
                    Some(input) => self.input(index, input),
                    None => self.begin(index),
                }
            }
        }
    }
}

fn meaning(job: Job, reply: Option<Reply>) -> Next {
    match job {
        Job::Bind { pod, uid, .. } => {
            let outcome = bound(reply.map(Reply::by_code).as_ref());
            Next::Tell(Some(Input::Binding { pod, uid, outcome }))
        }
        Job::Find { pod, uid, node } => match found(&uid, &node, reply) {
            Some(outcome) => Next::Tell(Some(Input::Binding { pod, uid, outcome })),
            None => Next::Again(Job::Find { pod, uid, node }, FIND_PAUSE),
        },
        Job::Look { annotation, tries, wall } => looked(annotation, tries, wall, reply),
        Job::Patch { annotation, tries, wall, .. } => match reply {
            Some(Reply::Done(version)) => annotated(annotation, Annotated::Done { version }),
            // The words of a policy are not those of a condition that no longer holds.
            Some(Reply::Denied(code)) => annotated(annotation, refused(code)),
            Some(Reply::Refused(code)) if is_certain(code) && !matches!(code, 409 | 422) => {
                annotated(annotation, refused(code))
            }
            _ => look_again(annotation, tries, wall),
        },
        // A server that turns it away is asked again; one that does not answer for long is not.
        Job::Tell { pod, uid, told, nomination, tries }
            if tries < TELLS_MAX && matches!(reply, Some(Reply::Refused(code)) if !is_certain(code)) =>
        {
            let job = Job::Tell { pod, uid, told, nomination, tries: tries + 1 };
            Next::Again(job, TELL_PAUSE * tries)
        }
        Job::Tell { uid, nomination, .. } => {
            let version = match reply {
                Some(Reply::Done(version)) => Some(version),
                _ => None,
            };
            Next::Tell((nomination != Nomination::Keep).then_some(Input::Nominated { uid, version }))
        }
        Job::Evict(eviction) => {
            let outcome = match reply {
                Some(Reply::Done(_)) => Evicted::Begun,
                Some(Reply::Refused(404 | 409)) => Evicted::Gone,
                _ => Evicted::Failed { why: "no answer".into() },
            };
            Next::Tell(Some(Input::Evicted { eviction, outcome }))
        }
        Job::Ask(effect) => Next::Tell(asked(*effect)),
        Job::ReadOwner(claim) => {
            Next::Tell(Some(Input::Cluster(Box::new(Event::OwnerRead(claim, answered(reply))))))
        }
        Job::Talk(_) | Job::Publish(..) | Job::Errand(_) => Next::Tell(None),
    }
}

fn bound(reply: Option<&Reply>) -> Binding {
    match reply {
        Some(Reply::Done(_)) => Binding::Bound,
        Some(Reply::Refused(404)) => Binding::Lost,
        Some(Reply::Refused(code)) if is_certain(*code) && *code != 409 => {
            Binding::Refused { why: format!("refused with {code}") }
        }
        _ => Binding::Unknown,
    }
}

/// What a look at a pod says about its binding; none if there was no answer.
fn found(uid: &Uid, node: &NodeName, reply: Option<Reply>) -> Option<Binding> {
    Some(match reply {
        Some(Reply::Pod(Some((found, _)))) if found != *uid => Binding::Lost,
        Some(Reply::Pod(Some((_, Some(bound))))) if bound == *node => Binding::Bound,
        Some(Reply::Pod(Some((_, Some(_))))) | Some(Reply::Pod(None)) => Binding::Lost,
        Some(Reply::Pod(Some((_, None)))) => {
            Binding::Refused { why: "the API server did not bind the pod".into() }
        }
        _ => return None,
    })
}

fn is_certain(code: u16) -> bool {
    (400..500).contains(&code) && !matches!(code, 408 | 429)
}

fn refused(code: u16) -> Annotated {
    let why = format!("refused with {code}");
    let refusal = match code {
        404 => Refusal::Final,
        // The role allows everything: it was a policy.
        403 => Refusal::Denied,
        _ => Refusal::Later,
    };
    Annotated::Refused { why, refusal }
}

fn annotated(annotation: Box<Annotation>, outcome: Annotated) -> Next {
    Next::Tell(Some(Input::Annotated { annotation, outcome }))
}

fn look_again(annotation: Box<Annotation>, tries: u32, wall: Timestamp) -> Next {
    if tries >= TRIES_MAX {
        return annotated(annotation, Annotated::Unknown { why: "no answer".into() });
    }
    Next::Again(Job::Look { annotation, tries: tries + 1, wall }, PAUSE * tries)
}

/// What was seen of a node decides what is written: by the daemon's own plan.
fn looked(annotation: Box<Annotation>, tries: u32, wall: Timestamp, reply: Option<Reply>) -> Next {
    match reply {
        Some(Reply::Node(sent)) => {
            let seen = Seen { uid: &sent.uid, version: &sent.version, annotations: &sent.annotations };
            match plan(&seen, &annotation, wall) {
                Plan::Done => {
                    let version = sent.version.parse().unwrap_or(0);
                    annotated(annotation, Annotated::Done { version })
                }
                Plan::Never(why) => {
                    annotated(annotation, Annotated::Refused { why, refusal: Refusal::Final })
                }
                Plan::Patch(patch) => {
                    Next::Again(Job::Patch { annotation, tries, wall, patch }, Duration::ZERO)
                }
            }
        }
        Some(Reply::Refused(code)) if is_certain(code) => annotated(annotation, refused(code)),
        _ => look_again(annotation, tries, wall),
    }
}

/// There are no extenders: everybody passes.
fn asked(effect: Effect) -> Option<Input> {
    match effect {
        Effect::Ask { pod, uid, nodes } => {
            let answer = Ok(Opinions { passed: nodes, ..Opinions::default() });
            Some(Input::Answered { pod, uid, answer })
        }
        Effect::AskVictims { pod, uid, candidates } => {
            let answer = Ok(candidates.into_iter().map(|one| (one.node, one.victims)).collect());
            Some(Input::Chosen { pod, uid, answer })
        }
        _ => None,
    }
}
