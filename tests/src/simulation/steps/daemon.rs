//! A daemon in the simulation: its state machine and outbox are the real ones; its watches, Leases and calls are simulated.

use super::api::{Stream, wall};
use super::calls::Job;
use super::rules::{SeenRevisions, write_key};
use super::sim::{Action, Sim};
use super::watches::{Watch, other_lists};
use common::api::replica::lease_name;
use common::model::object::ObjectMeta;
use common::model::{Replica, Reservation};
use common::plugins::default_registry;
use daemon::config::CALLS_MAX;
use daemon::outbox::Outbox;
use daemon::queue::Backoff;
use daemon::state::{Effect, Input, Now, ReservationChange, State};
use std::time::Duration;

/// How long a replica's Lease is valid, how much earlier the replica stops relying on it, how often it is renewed, and the shortest
/// time between two writes; the values of the daemon.
pub(super) const GOOD_FOR: Duration = Duration::from_secs(15);
pub(super) const MARGIN: Duration = Duration::from_secs(2);
const RENEWAL: Duration = Duration::from_secs(5);
const APART_MIN: Duration = Duration::from_millis(100);

/// How long a stopping daemon may take to finish its calls.
const STOP_MAX: Duration = Duration::from_secs(10);

pub(super) struct SimDaemon {
    pub(super) name: &'static str,
    /// How often it was started.
    pub(super) life: u32,
    pub(super) is_up: bool,
    pub(super) state: State,
    pub(super) outbox: Outbox,
    pub(super) running: usize,
    pub(super) streams: [Watch; 4],
    /// The process is paused until then.
    pub(super) paused: Duration,
    /// Its requests do not arrive until then.
    pub(super) cut: Duration,
    /// By how many milliseconds its clock is wrong.
    pub(super) skew: i64,
    started: Duration,
    pub(super) election: super::leases::ElectionState,
    token: u64,
    published: Option<Duration>,
    /// Until when it relies on its own Lease.
    pub(super) good_until: Option<Duration>,
    is_publishing: bool,
    stopping: Option<Duration>,
}

impl SimDaemon {
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
            election: super::leases::ElectionState::new(name, 0, 0),
            token: 0,
            published: None,
            good_until: None,
            is_publishing: false,
            stopping: None,
        }
    }

    /// Its wall-clock time and its monotonic time.
    pub(super) fn now(&self, now: Duration) -> Now {
        let wall = wall(now) + jiff::SignedDuration::from_millis(self.skew);
        Now { wall, elapsed: now.saturating_sub(self.started) }
    }

    pub(super) fn is_here(&self, life: u32) -> bool {
        self.is_up && self.life == life
    }

    fn seen_revisions(&self) -> SeenRevisions {
        let seen = |stream: Stream| self.streams[stream as usize].seen;
        SeenRevisions {
            nodes: seen(Stream::Nodes),
            pods: seen(Stream::Pods),
            owners: seen(Stream::Workloads),
        }
    }
}

pub(super) fn new_state(automatic_max: usize) -> State {
    let profiles = [(common::api::names::SCHEDULER_NAME.into(), default_registry())].into();
    let mut state = State::new(profiles, Backoff::default());
    state.set_automatic_max(automatic_max);
    state
}

/// The request in a reservation's record.
fn request(of: &Reservation) -> &str {
    of.record().map_or("", |record| &record.request)
}

impl Sim {
    /// Starts a daemon with an empty state.
    pub(super) fn start_daemon(&mut self, index: usize) {
        let now = self.api.now;
        let (automatic_max, is_elected) = (self.scenario.automatic_max, self.scenario.is_elected);
        let daemon = &mut self.daemons[index];
        daemon.life += 1;
        let life = daemon.life;
        *daemon = SimDaemon {
            life,
            is_up: true,
            state: new_state(automatic_max),
            started: now,
            skew: daemon.skew,
            cut: daemon.cut,
            election: super::leases::ElectionState::new(daemon.name, life, daemon.election.skew),
            ..SimDaemon::new(daemon.name)
        };
        self.api.note(format_args!("daemon {index} starts, life {life}"));
        self.input(index, Input::Leading(!is_elected));
        for event in other_lists() {
            self.input(index, Input::Cluster(Box::new(event)));
        }
        if is_elected {
            let pause = self.millis(1..500);
            self.after(pause, Action::Elect(index, life));
        }
        self.after(Duration::from_millis(10), Action::Publish(index, life, true));
    }

    /// A daemon dies, and is started again some time later.
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

    /// A daemon is stopped: it finishes its running calls.
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

    /// How much longer a daemon is paused; `None` if it is not.
    pub(super) fn paused_for(&self, index: usize) -> Option<Duration> {
        let paused = self.daemons[index].paused;
        (paused > self.api.now).then(|| paused - self.api.now)
    }

    pub(super) fn tick(&mut self, index: usize, life: u32, token: u64) {
        let daemon = &self.daemons[index];
        if !daemon.is_here(life) || (token != daemon.token && token != u64::MAX) {
            return;
        }
        if let Some(wait) = self.paused_for(index) {
            return self.after(wait, Action::Tick(index, life, token));
        }
        self.input(index, Input::Tick);
        self.end_if_done(index);
    }

    /// Gives an input to a daemon's state, and starts the effects.
    pub(super) fn input(&mut self, index: usize, input: Input) {
        if !self.daemons[index].is_up || self.has_lost(index) {
            return;
        }
        let acts = self.rng.u32(0..4) > 0;
        let (who, now) = (self.who(index), self.daemons[index].now(self.api.now));
        let at = self.api.wall();
        let daemon = &mut self.daemons[index];
        let seen = daemon.seen_revisions();
        let mut effects = daemon.state.learn(input, now);
        if acts {
            effects.extend(daemon.state.act(now));
        }
        for effect in effects {
            match &effect {
                Effect::Reply { .. } => continue,
                Effect::Bind { pod, uid, node, .. } => {
                    self.api.note(format_args!("{who:?} decides: {pod} goes to {node}"));
                    self.api.rules.record_decision(who, uid.to_string(), seen, at);
                }
                Effect::Annotate(annotation) => {
                    let on = format!("{}/{}", annotation.node, annotation.id());
                    let on = match &annotation.change {
                        ReservationChange::Reserve(wanted) => write_key(&on, request(wanted)),
                        ReservationChange::Extend { request, .. } => write_key(&on, request),
                        ReservationChange::Shorten { judged, .. } => write_key(&on, request(judged)),
                        ReservationChange::Release { judged, why } => {
                            self.api.note(format_args!("{who:?} decides: {on} is released, {why}"));
                            format!("{on} {}", request(judged))
                        }
                    };
                    self.api.rules.record_decision(who, on, seen, at);
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
        let token = self.next_id();
        let daemon = &mut self.daemons[index];
        daemon.token = token;
        let life = daemon.life;
        if let Some(pause) = pause {
            self.after(pause, Action::Tick(index, life, token));
        }
    }

    /// Starts as many effects of the outbox as may run at once.
    pub(super) fn begin(&mut self, index: usize) {
        if !self.daemons[index].is_up || self.has_lost(index) {
            return;
        }
        while self.daemons[index].running < CALLS_MAX
            && let Some(effect) = self.daemons[index].outbox.pop()
        {
            self.daemons[index].running += 1;
            let wall = self.daemons[index].now(self.api.now).wall;
            let (subject, seen) = (effect.subject(), self.seen_revision(index, Stream::Nodes));
            self.call(self.who(index), Job::of(effect, wall, seen), Some(subject));
        }
        self.end_if_done(index);
    }

    /// A daemon writes its own Lease, with what it has seen.
    pub(super) fn publish(&mut self, index: usize, life: u32, is_routine: bool) {
        if !self.daemons[index].is_here(life) {
            return;
        }
        if let Some(wait) = self.paused_for(index) {
            return self.after(wait, Action::Publish(index, life, is_routine));
        }
        if is_routine {
            self.after(RENEWAL, Action::Publish(index, life, true));
        }
        // Its own Lease may have lapsed while nothing happened: who renews it sees that.
        if self.has_lost(index) {
            return;
        }
        let now = self.api.now;
        let daemon = &mut self.daemons[index];
        if is_routine && daemon.published.is_some_and(|at| at + RENEWAL > now) {
            return;
        }
        (daemon.published, daemon.is_publishing) = (Some(now), false);
        let status = daemon.state.replica_status();
        let replica = Replica {
            meta: ObjectMeta {
                namespace: common::api::names::NAMESPACE.into(),
                name: lease_name(daemon.name).into(),
                uid: daemon.name.into(),
                resource_version: 0,
                is_deleting: false,
            },
            name: daemon.name.into(),
            seen_nodes: status.nodes,
            seen_pods: status.pods,
            schedulers: status.schedulers.iter().cloned().collect(),
            extends: Box::default(),
            renew_time: Some(daemon.now(now).wall),
            duration: GOOD_FOR,
            version: "simulated".into(),
            is_restricted: false,
        };
        self.call(self.who(index), Job::Publish(Box::new(replica), now), None);
    }
}
