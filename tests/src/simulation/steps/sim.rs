//! One simulation: everybody in it, the line of what happens next, and the dice.

use super::api::{Api, Stream, Who};
use super::calls::Call;
use super::command::Command;
use super::daemon::Daemon;
use super::faults::{Faults, Strike};
use super::scenario::Scenario;
use crate::simulation::History;
use common::model::Uid;
use fastrand::Rng;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

/// What can happen next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Action {
    /// A daemon, in this life, hears what comes next of a kind.
    Deliver(usize, u32, usize),
    /// Time has passed for a daemon.
    Tick(usize, u32, u64),
    /// A daemon looks at the Lease of the election.
    Elect(usize, u32),
    /// A daemon publishes what it has seen; whether that is by routine.
    Publish(usize, u32, bool),
    /// A daemon starts.
    Start(usize),
    /// A request reaches the API server.
    Land(u64),
    /// Its answer reaches whoever asked.
    Answer(u64),
    /// A daemon makes a request again, after a pause.
    Retry(u64),
    /// A run of the command makes its next request.
    Go(usize, u64),
    /// The controllers look at what there is.
    Reconcile,
    /// A kubelet looks at a pod.
    Kubelet(Uid),
    /// The scheduler that knows nothing of us looks at the pods.
    Schedule,
    /// Somebody does something.
    Act,
    /// Something fails that is no request.
    Fail,
}

pub(super) struct Sim {
    pub(super) api: Api,
    pub(super) rng: Rng,
    pub(super) faults: Faults,
    /// What fails by plan rather than by chance.
    pub(super) strike: Option<Strike>,
    pub(super) scenario: Scenario,
    pub(super) daemons: Vec<Daemon>,
    pub(super) commands: Vec<Command>,
    pub(super) calls: BTreeMap<u64, Call>,
    queue: BinaryHeap<Reverse<(Duration, u64, Action)>>,
    count: u64,
    pub(super) is_reconciling: bool,
    pub(super) is_scheduling: bool,
}

/// Nothing takes longer than this many steps.
const STEPS_MAX: u64 = 60_000;

impl Sim {
    pub(super) fn new(rng: Rng, faults: Faults, scenario: Scenario, history: History) -> Self {
        Self {
            api: Api::new(history),
            rng,
            faults,
            strike: None,
            scenario,
            daemons: Vec::new(),
            commands: Vec::new(),
            calls: BTreeMap::new(),
            queue: BinaryHeap::new(),
            count: 0,
            is_reconciling: false,
            is_scheduling: false,
        }
    }

    /// Something happens, after so long.
    pub(super) fn after(&mut self, pause: Duration, action: Action) {
        self.count += 1;
        self.queue.push(Reverse((self.api.now + pause, self.count, action)));
    }

    /// A number for something that is under way.
    pub(super) fn ticket(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// So many milliseconds, by chance.
    pub(super) fn millis(&mut self, range: std::ops::Range<u64>) -> Duration {
        Duration::from_millis(self.rng.u64(range))
    }

    /// Whether something happens that does so one time in `times`; never for 0.
    pub(super) fn one_in(&mut self, times: u32) -> bool {
        times > 0 && self.rng.u32(0..times) == 0
    }

    /// Lives until `end`, or until a rule is broken.
    pub(super) fn run_until(&mut self, end: Duration) {
        while self.api.rules.broken.is_none() {
            match self.queue.peek() {
                Some(Reverse((at, ..))) if *at <= end => {}
                _ => break,
            }
            let Some(Reverse((at, _, action))) = self.queue.pop() else { break };
            self.api.now = self.api.now.max(at);
            self.happen(action);
            if self.count > STEPS_MAX {
                let next: Vec<&Action> = self.queue.iter().take(5).map(|Reverse((.., next))| next).collect();
                let what = format!(
                    "there is no end to it; {} things are to come, among them {next:?}",
                    self.queue.len()
                );
                self.api.rules.break_("I16", &what);
            }
        }
        self.api.now = self.api.now.max(end);
    }

    fn happen(&mut self, action: Action) {
        match action {
            Action::Deliver(index, life, stream) => self.deliver(index, life, stream),
            Action::Tick(index, life, token) => self.tick(index, life, token),
            Action::Elect(index, life) => self.elect(index, life),
            Action::Publish(index, life, is_routine) => self.publish(index, life, is_routine),
            Action::Start(index) => self.start_daemon(index),
            Action::Land(id) => self.land(id),
            Action::Answer(id) => self.answer(id),
            Action::Retry(id) => self.retry(id),
            Action::Go(index, token) => self.go(index, token),
            Action::Reconcile => self.reconcile(),
            Action::Kubelet(uid) => self.kubelet(&uid),
            Action::Schedule => self.schedule(),
            Action::Act => self.act(),
            Action::Fail => self.fail(),
        }
        self.follow_up();
    }

    /// Whatever was written reaches those who watch, sooner or later.
    fn follow_up(&mut self) {
        for index in 0..self.daemons.len() {
            self.listen(index);
        }
        let revision = self.api.revision;
        if self.scenario.heard < revision {
            self.scenario.heard = revision;
            self.rouse();
        }
    }

    /// Which revision of a kind a daemon has seen last.
    pub(super) fn seen(&self, index: usize, stream: Stream) -> u64 {
        self.daemons.get(index).map_or(0, |daemon| daemon.streams[stream as usize].seen)
    }

    /// Who a daemon is in its present life.
    pub(super) fn who(&self, index: usize) -> Who {
        Who::Daemon(index, self.daemons.get(index).map_or(0, |daemon| daemon.life))
    }
}
