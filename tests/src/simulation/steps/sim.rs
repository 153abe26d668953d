//! One simulation ([`Sim`]): the API server, the daemons, the runs of the command, the random numbers, and the queue of actions.

use super::api::{Actor, Api, Stream};
use super::calls::Call;
use super::command::Command;
use super::daemon::SimDaemon;
use super::faults::{Faults, PlannedFault};
use super::scenario::Scenario;
use crate::simulation::HistoryLog;
use common::model::Uid;
use fastrand::Rng;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

/// An entry of the queue.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Action {
    /// A watch delivers its next event to a daemon: index, life (the number of its start), kind.
    Deliver(usize, u32, usize),
    /// The timer of a daemon fires: index, life, token.
    Tick(usize, u32, u64),
    /// A daemon tries to get or renew the Lease of the leader.
    Elect(usize, u32),
    /// A daemon writes its own Lease; true: the regular renewal.
    Publish(usize, u32, bool),
    /// A daemon starts.
    Start(usize),
    /// A request arrives at the API server.
    Land(u64),
    /// An answer arrives at the sender.
    Answer(u64),
    /// A request is sent again.
    Retry(u64),
    /// A run of the command sends its next request.
    Go(usize, u64),
    /// The controllers run.
    Reconcile,
    /// A kubelet handles a pod.
    Kubelet(Uid),
    /// The scheduler that knows nothing of reservations runs.
    Schedule,
    /// A random activity.
    Act,
    /// A random fault of a watch, a process or a clock.
    Fail,
}

pub(super) struct Sim {
    pub(super) api: Api,
    pub(super) rng: Rng,
    pub(super) faults: Faults,
    /// The planned fault, in plans.
    pub(super) planned_fault: Option<PlannedFault>,
    pub(super) scenario: Scenario,
    pub(super) daemons: Vec<SimDaemon>,
    pub(super) commands: Vec<Command>,
    pub(super) calls: BTreeMap<u64, Call>,
    queue: BinaryHeap<Reverse<(Duration, u64, Action)>>,
    count: u64,
    pub(super) is_reconciling: bool,
    pub(super) is_scheduling: bool,
}

/// A simulation with more actions than this never ends.
const STEPS_MAX: u64 = 60_000;

impl Sim {
    pub(super) fn new(rng: Rng, faults: Faults, scenario: Scenario, history: HistoryLog) -> Self {
        Self {
            api: Api::new(history),
            rng,
            faults,
            planned_fault: None,
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

    /// Adds an action to the queue.
    pub(super) fn after(&mut self, pause: Duration, action: Action) {
        self.count += 1;
        self.queue.push(Reverse((self.api.now + pause, self.count, action)));
    }

    /// A new number, for a request or a timer.
    pub(super) fn next_id(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// A random number of milliseconds.
    pub(super) fn millis(&mut self, range: std::ops::Range<u64>) -> Duration {
        Duration::from_millis(self.rng.u64(range))
    }

    /// true one time in `times` at random; never for 0.
    pub(super) fn one_in(&mut self, times: u32) -> bool {
        times > 0 && self.rng.u32(0..times) == 0
    }

    /// Runs actions until `end`, or until a rule is broken.
    pub(super) fn run_until(&mut self, end: Duration) {
        while self.api.rules.broken.is_none() {
            match self.queue.peek() {
                Some(Reverse((at, ..))) if *at <= end => {}
                _ => break,
            }
            let Some(Reverse((at, _, action))) = self.queue.pop() else { break };
            self.api.now = self.api.now.max(at);
            self.run_action(action);
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

    fn run_action(&mut self, action: Action) {
        match action {
            Action::Deliver(index, life, stream) => self.deliver(index, life, stream),
            Action::Tick(index, life, token) => self.tick(index, life, token),
            Action::Elect(index, life) => self.elect(index, life),
            Action::Publish(index, life, is_routine) => self.publish(index, life, is_routine),
            Action::Start(index) => self.start_daemon(index),
            Action::Land(id) => self.land(id),
            Action::Answer(id) => self.answer(id),
            Action::Retry(id) => self.retry(id),
            Action::Go(index, token) => self.send_next_request(index, token),
            Action::Reconcile => self.reconcile(),
            Action::Kubelet(uid) => self.kubelet(&uid),
            Action::Schedule => self.schedule(),
            Action::Act => self.act(),
            Action::Fail => self.fail(),
        }
        self.follow_up();
    }

    /// Schedules the reactions to what was written.
    fn follow_up(&mut self) {
        for index in 0..self.daemons.len() {
            self.schedule_deliveries(index);
        }
        let revision = self.api.revision;
        if self.scenario.handled_revision < revision {
            self.scenario.handled_revision = revision;
            self.schedule_reactions();
        }
    }

    /// The last revision of a kind that a daemon has seen.
    pub(super) fn seen_revision(&self, index: usize, stream: Stream) -> u64 {
        self.daemons.get(index).map_or(0, |daemon| daemon.streams[stream as usize].seen)
    }

    /// The sender of a daemon's requests since its last start.
    pub(super) fn who(&self, index: usize) -> Actor {
        Actor::Daemon(index, self.daemons.get(index).map_or(0, |daemon| daemon.life))
    }
}
