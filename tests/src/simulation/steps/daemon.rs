//! A daemon in the simulation: its state machine and outbox are the real ones; its watches, Leases and calls are played.

use super::api::{Stream, wall};
use super::calls::Job;
use super::rules::{Sight, made};
use super::sim::{Action, Sim};
use super::watches::{Watch, others};
use common::api::replica::lease_name;
use common::model::object::Meta;
use common::model::{Replica, Reservation};
use common::plugins::default_registry;
use daemon::config::CALLS_MAX;
use daemon::outbox::Outbox;
use daemon::queue::Backoff;
use daemon::state::{Effect, Input, Now, Rewrite, State};
use std::time::Duration;

/// How long a replica's word is good, how much sooner it no longer relies on it, how often it is repeated, and how far apart
/// two words are at least; as in the daemon.
pub(super) const GOOD_FOR: Duration = Duration::from_secs(15);
pub(super) const MARGIN: Duration = Duration::from_secs(2);
const RENEWAL: Duration = Duration::from_secs(5);
const APART_MIN: Duration = Duration::from_millis(100);

/// How long a daemon that is to end has to finish what it does.
const STOP_MAX: Duration = Duration::from_secs(10);

pub(super) struct Daemon {
    pub(super) name: &'static str,
    /// How often it was started.
    pub(super) life: u32,
    pub(super) is_up: bool,
    pub(super) state: State,
    pub(super) outbox: Outbox,
    pub(super) running: usize,
    pub(super) streams: [Watch; 4],
    /// It stands still until then.
    pub(super) paused: Duration,
    /// Nothing that it asks for arrives until then.
    pub(super) cut: Duration,
    /// By how many milliseconds its clock is off.
    pub(super) skew: i64,
    started: Duration,
    pub(super) election: super::leases::Standing,
    token: u64,
    published: Option<Duration>,
    /// Until when it relies on its own Lease.
    pub(super) good_until: Option<Duration>,
    is_publishing: bool,
    stopping: Option<Duration>,
}

impl Daemon {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            life: 0,
            is_up: false,
            state: new_state(usize::MAX),
            outbox: Outbox::default(),
            running: 0,
            streams: Default::default(),
            paused: Duration::ZERO,
            cut: Duration::ZERO,
            skew: 0,
            started: Duration::ZERO,
            election: super::leases::Standing::new(name, 0, 0),
            token: 0,
            published: None,
            good_until: None,
            is_publishing: false,
            stopping: None,
        }
    }

    /// Its time, on both clocks.
    pub(super) fn now(&self, now: Duration) -> Now {
        let wall = wall(now) + jiff::SignedDuration::from_millis(self.skew);
        Now { wall, elapsed: now.saturating_sub(self.started) }
    }

    pub(super) fn is_here(&self, life: u32) -> bool {
        self.is_up && self.life == life
    }

    fn sight(&self) -> Sight {
        let seen = |stream: Stream| self.streams[stream as usize].seen;
        Sight { nodes: seen(Stream::Nodes), pods: seen(Stream::Pods), owners: seen(Stream::Workloads) }
    }
}

pub(super) fn new_state(automatic_max: usize) -> State {
    let profiles = [(common::api::names::SCHEDULER_NAME.into(), default_registry())].into();
    let mut state = State::new(profiles, Backoff::default());
    state.set_automatic_max(automatic_max);
    state
}

/// The request of a reservation.
fn request(of: &Reservation) -> &str {
    of.record().map_or("", |record| &record.request)
}

impl Sim {
    /// A daemon starts: it knows nothing.
    pub(super) fn start_daemon(&mut self, index: usize) {
        let now = self.api.now;
        let (automatic_max, is_elected) = (self.scenario.automatic_max, self.scenario.is_elected);
        let daemon = &mut self.daemons[index];
        daemon.life += 1;
        let life = daemon.life;
        *daemon = Daemon {
            life,
            is_up: true,
            state: new_state(automatic_max),
            started: now,
            skew: daemon.skew,
            cut: daemon.cut,
            election: super::leases::Standing::new(daemon.name, life, daemon.election.skew),
            ..Daemon::new(daemon.name)
        };
        self.api.note(format_args!("daemon {index} starts, life {life}"));
        self.input(index, Input::Leading(!is_elected));
        for event in others() {
            self.input(index, Input::Cluster(Box::new(event)));
        }
        if is_elected {
            let pause = self.millis(1..500);
            self.after(pause, Action::Elect(index, life));
        }
        self.after(Duration::from_millis(10), Action::Publish(index, life, true));
    }

    /// A daemon is gone, with all that it knew; it comes back.
    pub(super) fn crash(&mut self, index: usize, why: &str) {
        if !self.daemons[index].is_up {
            return;
        }
        self.api.note(format_args!("daemon {index} {why}"));
        self.daemons[index].is_up = false;
        self.abandon(self.who(index));
        let pause = self.millis(500..6_000);
        self.after(pause, Action::Start(index));
    }

    /// A daemon is told to end: it finishes what it has begun.
    pub(super) fn stop_daemon(&mut self, index: usize) {
        if !self.daemons[index].is_up || self.daemons[index].stopping.is_some() {
            return;
        }
        self.api.note(format_args!("daemon {index} is to end"));
        self.daemons[index].stopping = Some(self.api.now + STOP_MAX);
        let life = self.daemons[index].life;
        self.input(index, Input::Stop);
        self.after(STOP_MAX, Action::Tick(index, life, u64::MAX));
        self.end_if_done(index);
    }

    fn end_if_done(&mut self, index: usize) {
        let daemon = &self.daemons[index];
        let Some(latest) = daemon.stopping.filter(|_| daemon.is_up) else { return };
        if daemon.running == 0 || self.api.now >= latest {
            self.let_go(index);
            let name = self.daemons[index].name;
            self.api.remove_replica(name);
            self.crash(index, "ends");
        }
    }

    /// Until when a daemon hears and does nothing.
    pub(super) fn still(&self, index: usize) -> Option<Duration> {
        let paused = self.daemons[index].paused;
        (paused > self.api.now).then(|| paused - self.api.now)
    }

    pub(super) fn tick(&mut self, index: usize, life: u32, token: u64) {
        let daemon = &self.daemons[index];
        if !daemon.is_here(life) || (token != daemon.token && token != u64::MAX) {
            return;
        }
        if let Some(wait) = self.still(index) {
            return self.after(wait, Action::Tick(index, life, token));
        }
        self.input(index, Input::Tick);
        self.end_if_done(index);
    }

    /// A daemon takes something in, and begins what it wishes for.
    pub(super) fn input(&mut self, index: usize, input: Input) {
        if !self.daemons[index].is_up || self.has_lost(index) {
            return;
        }
        let acts = self.rng.u32(0..4) > 0;
        let (who, now) = (self.who(index), self.daemons[index].now(self.api.now));
        let at = self.api.wall();
        let daemon = &mut self.daemons[index];
        let sight = daemon.sight();
        let mut effects = daemon.state.learn(input, now);
        if acts {
            effects.extend(daemon.state.act(now));
        }
        for effect in effects {
            match &effect {
                Effect::Reply { .. } => continue,
                Effect::Bind { pod, uid, node, .. } => {
                    self.api.note(format_args!("{who:?} decides: {pod} goes to {node}"));
                    self.api.rules.decided(who, uid.to_string(), sight, at);
                }
                Effect::Annotate(annotation) => {
                    let on = format!("{}/{}", annotation.node, annotation.id());
                    let on = match &annotation.change {
                        Rewrite::Reserve(wanted) => made(&on, request(wanted)),
                        Rewrite::Extend { request, .. } => made(&on, request),
                        Rewrite::Shorten { judged, .. } => made(&on, request(judged)),
                        Rewrite::Release { judged, why } => {
                            self.api.note(format_args!("{who:?} decides: {on} is released, {why}"));
                            format!("{on} {}", request(judged))
                        }
                    };
                    self.api.rules.decided(who, on, sight, at);
                }
                _ => {}
            }
            self.daemons[index].outbox.push(effect);
        }
        self.begin(index);
        self.plan_tick(index, acts);
        let life = self.daemons[index].life;
        if self.daemons[index].state.take_news() && !self.daemons[index].is_publishing {
            let published = self.daemons[index].published.unwrap_or_default();
            let pause = (published + APART_MIN).saturating_sub(self.api.now);
            self.daemons[index].is_publishing = true;
            self.after(pause, Action::Publish(index, life, false));
        }
    }

    fn plan_tick(&mut self, index: usize, has_acted: bool) {
        let now = self.daemons[index].now(self.api.now);
        let tick = self.daemons[index].state.next_tick(now);
        let pause = match tick {
            _ if !has_acted => Some(Duration::from_millis(3)),
            Some(at) => Some(at.saturating_sub(now.elapsed).max(Duration::from_millis(1))),
            None => None,
        };
        let token = self.ticket();
        let daemon = &mut self.daemons[index];
        daemon.token = token;
        let life = daemon.life;
        if let Some(pause) = pause {
            self.after(pause, Action::Tick(index, life, token));
        }
    }

    /// Begins whatever may begin.
    pub(super) fn begin(&mut self, index: usize) {
        if !self.daemons[index].is_up || self.has_lost(index) {
            return;
        }
        while self.daemons[index].running < CALLS_MAX
            && let Some(effect) = self.daemons[index].outbox.pop()
        {
            self.daemons[index].running += 1;
            let wall = self.daemons[index].now(self.api.now).wall;
            let (subject, seen) = (effect.subject(), self.seen(index, Stream::Nodes));
            self.call(self.who(index), Job::of(effect, wall, seen), Some(subject));
        }
        self.end_if_done(index);
    }

    /// A daemon says in its Lease what it has seen.
    pub(super) fn publish(&mut self, index: usize, life: u32, is_routine: bool) {
        if !self.daemons[index].is_here(life) {
            return;
        }
        if let Some(wait) = self.still(index) {
            return self.after(wait, Action::Publish(index, life, is_routine));
        }
        if is_routine {
            self.after(RENEWAL, Action::Publish(index, life, true));
        }
        let now = self.api.now;
        let daemon = &mut self.daemons[index];
        if daemon.good_until.is_some_and(|until| now >= until) {
            return;
        }
        if is_routine && daemon.published.is_some_and(|at| at + RENEWAL > now) {
            return;
        }
        (daemon.published, daemon.is_publishing) = (Some(now), false);
        let sight = daemon.state.sight();
        let replica = Replica {
            meta: Meta {
                namespace: common::api::names::NAMESPACE.into(),
                name: lease_name(daemon.name).into(),
                uid: daemon.name.into(),
                resource_version: 0,
                is_deleting: false,
            },
            name: daemon.name.into(),
            seen_nodes: sight.nodes,
            seen_pods: sight.pods,
            schedulers: sight.schedulers.iter().cloned().collect(),
            extends: Box::default(),
            renewed: Some(daemon.now(now).wall),
            duration: GOOD_FOR,
            version: "simulated".into(),
            is_restricted: false,
        };
        self.call(self.who(index), Job::Publish(Box::new(replica), now), None);
    }
}
