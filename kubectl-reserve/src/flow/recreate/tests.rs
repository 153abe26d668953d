//! The flow, driven through a small world that answers as a cluster would.

mod answers;
mod faults;
mod lost;

use super::{
    Answer, Keeping, Landed, Newcomer, News, Next, NodeSight, OldPod, Outcome, Recheck, Recreation, Refusal,
    Request, Sight, Stays, Terms, Then, Until, Why,
};
use crate::flow::budget::Blocked;
use jiff::Timestamp;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn terms() -> Terms {
    Terms {
        uid: "old".into(),
        same_name: None,
        node: "node-2".into(),
        is_home: true,
        keeping: Keeping::Reservation,
        seat: Some("owner.seat".into()),
        is_leaving: false,
        is_gone: false,
        known: ["old".to_owned()].into(),
        is_enforced: true,
        creates: false,
        until: Until::Ready,
        is_required: false,
        timeout: 600 * SECOND,
    }
}

fn end() -> Timestamp {
    "2026-11-16T08:20:00Z".parse().unwrap()
}

/// A cluster as far as one recreation sees it.
#[derive(Clone, Debug)]
struct World {
    terms: Terms,
    is_reserved: bool,
    is_acknowledged: bool,
    evictions: u32,
    /// Looks at the pod after its eviction.
    looks: u32,
    /// Looks before it is gone, before its replacement is bound, ready, the reservation released.
    delays: [u32; 4],
    /// Where the replacement goes.
    lands_on: &'static str,
    is_created: bool,
    /// Somebody else removes the pod.
    is_removed: bool,
    requests: Vec<Request>,
}

impl World {
    fn new(terms: Terms) -> Self {
        Self {
            terms,
            is_reserved: false,
            is_acknowledged: false,
            evictions: 0,
            looks: 0,
            delays: [2, 4, 6, 8],
            lands_on: "node-2",
            is_created: false,
            is_removed: false,
            requests: Vec::new(),
        }
    }

    fn is_past(&self, stage: usize) -> bool {
        self.evictions > 0 && self.looks >= self.delays[stage]
    }

    /// Does what is asked, and says what came of it.
    fn answer(&mut self, request: Request) -> Answer {
        self.requests.push(request);
        match request {
            Request::Rehearse if self.evictions > 0 => Answer::Refused(Refusal::Gone),
            Request::Rehearse => Answer::Allowed,
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
                    is_kept || self.terms.keeping == Keeping::Nothing || !self.terms.is_enforced,
                    "I2, I4"
                );
                assert_eq!(self.evictions, 0, "never twice");
                self.evictions += 1;
                Answer::Allowed
            }
            Request::Look => {
                self.looks += 1;
                Answer::Sight(Box::new(self.sight()))
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

    fn sight(&mut self) -> Sight {
        let (is_gone, is_bound) =
            (self.is_past(0), self.is_past(1) && (self.is_created || !self.terms.creates));
        if is_bound && self.is_past(3) && self.is_acknowledged {
            self.is_reserved = false;
        }
        let new = Newcomer {
            name: "web-new".into(),
            uid: "new".into(),
            node: is_bound.then(|| self.lands_on.to_owned()),
            is_ready: is_bound && self.is_past(2),
            seat: (is_bound && self.lands_on == "node-2").then(|| "owner.seat".to_owned()),
            ..Newcomer::default()
        };
        let old = OldPod { is_leaving: self.evictions > 0, ..OldPod::default() };
        Sight {
            old: (!is_gone).then_some(old),
            node: Some(NodeSight { is_ready: true, ..NodeSight::default() }),
            pods: if is_gone && (self.is_created || !self.terms.creates) { vec![new] } else { Vec::new() },
            is_reserved: Some(self.is_reserved),
        }
    }
}

/// Everything that was said, and how it ended.
struct Run {
    news: Vec<News>,
    outcome: Outcome,
    at: Duration,
}

/// Drives `flow` to its end; each request goes through `answer` first, with its number.
fn drive(
    mut flow: Recreation,
    mut next: Next,
    mut answer: impl FnMut(usize, Request, &mut Recreation) -> Step,
) -> Run {
    let (mut news, mut at) = (Vec::new(), Duration::ZERO);
    for number in 0..10_000 {
        news.append(&mut next.news);
        let request = match next.then {
            Then::Stop(outcome) => return Run { news, outcome, at },
            Then::Do { request, after } => {
                at += after;
                request
            }
        };
        next = match answer(number, request, &mut flow) {
            Step::Answer(answer) => flow.step(answer, at),
            Step::Interrupt => flow.interrupt(),
        };
    }
    panic!("it never ends: {news:?}");
}

enum Step {
    Answer(Answer),
    Interrupt,
}

fn run(world: &mut World) -> Run {
    let (flow, next) = Recreation::begin(world.terms.clone());
    drive(flow, next, |_, request, _| Step::Answer(world.answer(request)))
}

/// The same with one answer replaced, whatever the request does.
fn run_with(world: &mut World, at: usize, instead: impl Fn() -> Answer) -> Run {
    let (flow, next) = Recreation::begin(world.terms.clone());
    drive(flow, next, |number, request, _| {
        let answer = world.answer(request);
        Step::Answer(if number == at { instead() } else { answer })
    })
}

fn blocked(never: bool) -> Box<Blocked> {
    let never = never.then_some(crate::flow::budget::Never::NeedsAll);
    Box::new(Blocked { budgets: vec![], message: "needs 2, has 1".into(), unhealthy: vec![], never })
}
