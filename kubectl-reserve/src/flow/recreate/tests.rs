//! The flow, driven by a fake cluster that answers its requests.

mod answers;
mod faults;
mod lost;

use super::{
    Answer, KeepMethod, Leftover, NextAction, NodeMatch, NodeObservation, Observation, OldPod, ProgressEvent,
    Recheck, Recreation, RecreationOutcome, Refusal, Request, SiblingPod, StepOutput, StopReason, Terms,
    WaitFor,
};
use crate::flow::budget::BlockedEviction;
use jiff::Timestamp;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn terms() -> Terms {
    Terms {
        uid: "old".into(),
        same_name: None,
        node: "node-2".into(),
        is_own_node: true,
        keep_method: KeepMethod::Reservation,
        seat: Some("owner.seat".into()),
        is_leaving: false,
        is_gone: false,
        known: ["old".to_owned()].into(),
        is_enforced: true,
        creates: false,
        wait_for: WaitFor::Ready,
        is_required: false,
        timeout: 600 * SECOND,
    }
}

fn end() -> Timestamp {
    "2026-11-16T08:20:00Z".parse().unwrap()
}

/// The part of a cluster that one recreation reads and writes.
#[derive(Clone, Debug)]
struct FakeCluster {
    terms: Terms,
    is_reserved: bool,
    is_acknowledged: bool,
    evictions: u32,
    /// How many observations were made after the eviction.
    looks: u32,
    /// The number of observations after which the old pod is gone, the replacement is bound, it is ready, and the reservation is
    /// released.
    delays: [u32; 4],
    /// The node of the replacement.
    replacement_node: &'static str,
    is_created: bool,
    /// Somebody else removes the pod.
    is_removed: bool,
    requests: Vec<Request>,
}

impl FakeCluster {
    fn new(terms: Terms) -> Self {
        Self {
            terms,
            is_reserved: false,
            is_acknowledged: false,
            evictions: 0,
            looks: 0,
            delays: [2, 4, 6, 8],
            replacement_node: "node-2",
            is_created: false,
            is_removed: false,
            requests: Vec::new(),
        }
    }

    fn is_past(&self, stage: usize) -> bool {
        self.evictions > 0 && self.looks >= self.delays[stage]
    }

    /// Carries out a request, and returns the answer.
    fn answer(&mut self, request: Request) -> Answer {
        self.requests.push(request);
        match request {
            Request::DryRunEvict if self.evictions > 0 => Answer::Refused(Refusal::Gone),
            Request::DryRunEvict => Answer::Allowed,
            Request::Reserve => {
                self.is_reserved = true;
                Answer::Reserved { version: 7, until: Some(end()) }
            }
            Request::Acknowledged { version } => {
                assert!(self.is_reserved && version == 7);
                self.is_acknowledged = true;
                Answer::Seen { replicas: 2 }
            }
            Request::Recheck => {
                let is_leaving = self.evictions > 0;
                Answer::Rechecked(Recheck { is_leaving, is_lost: !self.is_reserved, ..Recheck::default() })
            }
            Request::Evict => {
                let is_kept = self.is_reserved && self.is_acknowledged;
                assert!(
                    is_kept || self.terms.keep_method == KeepMethod::Nothing || !self.terms.is_enforced,
                    "I2, I4"
                );
                assert_eq!(self.evictions, 0, "never twice");
                self.evictions += 1;
                Answer::Allowed
            }
            Request::Look => {
                self.looks += 1;
                Answer::Observation(Box::new(self.observation()))
            }
            Request::Create => {
                assert!(self.is_past(0), "not while the old one is there");
                self.is_created = true;
                Answer::Created
            }
            Request::TakeBack if self.is_removed => Answer::Needed,
            Request::TakeBack | Request::Release => {
                self.is_reserved = false;
                Answer::Released
            }
        }
    }

    fn observation(&mut self) -> Observation {
        let (is_gone, is_bound) =
            (self.is_past(0), self.is_past(1) && (self.is_created || !self.terms.creates));
        if is_bound && self.is_past(3) && self.is_acknowledged {
            self.is_reserved = false;
        }
        let new = SiblingPod {
            name: "web-new".into(),
            uid: "new".into(),
            node: is_bound.then(|| self.replacement_node.to_owned()),
            is_ready: is_bound && self.is_past(2),
            seat: (is_bound && self.replacement_node == "node-2").then(|| "owner.seat".to_owned()),
            ..SiblingPod::default()
        };
        let old = OldPod { is_leaving: self.evictions > 0, ..OldPod::default() };
        Observation {
            old: (!is_gone).then_some(old),
            node: Some(NodeObservation { is_ready: true, ..NodeObservation::default() }),
            pods: if is_gone && (self.is_created || !self.terms.creates) { vec![new] } else { Vec::new() },
            is_reserved: Some(self.is_reserved),
        }
    }
}

/// All events of a recreation, its outcome, and how long it took.
struct Run {
    events: Vec<ProgressEvent>,
    outcome: RecreationOutcome,
    at: Duration,
}

/// Drives `flow` to its end. `answer` gets each request with its number, and answers it.
fn drive(
    mut flow: Recreation,
    mut next: StepOutput,
    mut answer: impl FnMut(usize, Request, &mut Recreation) -> Step,
) -> Run {
    let (mut events, mut at) = (Vec::new(), Duration::ZERO);
    for number in 0..10_000 {
        events.append(&mut next.events);
        let request = match next.action {
            NextAction::Stop(outcome) => return Run { events, outcome, at },
            NextAction::Do { request, after } => {
                at += after;
                request
            }
        };
        next = match answer(number, request, &mut flow) {
            Step::Answer(answer) => flow.step(answer, at),
            Step::Interrupt => flow.interrupt(),
        };
    }
    panic!("it never ends: {events:?}");
}

enum Step {
    Answer(Answer),
    Interrupt,
}

fn run(cluster: &mut FakeCluster) -> Run {
    let (flow, next) = Recreation::begin(cluster.terms.clone());
    drive(flow, next, |_, request, _| Step::Answer(cluster.answer(request)))
}

/// The same, but the request with number `at` is carried out and its answer replaced.
fn run_with(cluster: &mut FakeCluster, at: usize, instead: impl Fn() -> Answer) -> Run {
    let (flow, next) = Recreation::begin(cluster.terms.clone());
    drive(flow, next, |number, request, _| {
        let answer = cluster.answer(request);
        Step::Answer(if number == at { instead() } else { answer })
    })
}

fn blocked(permanent: bool) -> Box<BlockedEviction> {
    let permanent = permanent.then_some(crate::flow::budget::PermanentReason::NeedsAll);
    Box::new(BlockedEviction {
        budgets: vec![],
        message: "needs 2, has 1".into(),
        unhealthy: vec![],
        is_ready: true,
        permanent,
    })
}
