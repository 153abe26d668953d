//! The daemon as a state machine: `handle(input, now) -> effects`. `handle` calls `learn` and then `act`. A caller that has
//! several inputs calls `learn` for each of them and then `act` once, so that decisions are made with everything that is known.
//!
//! Everything that the state machine knows came in as an [`Input`]; everything that it wants done goes out as an [`Effect`]. Its
//! parts (`scheduler`, `controller`, `extender_logic`, `owners`, `comparer`) share one belief about the cluster, which each of
//! them borrows for one [`Step`].
//!
//! Knows nothing of: clients, the async runtime, clocks.

mod annotation;
mod effect;
mod figures;
mod input;
mod lag;
mod note;
mod replica_status;
#[cfg(test)]
mod tests;

pub use crate::scheduler::{ExtenderAnswer, PreemptionCandidate};
pub use annotation::{
    AnnotationOutcome, AnnotationWrite, EXPIRED, ObjectEvent, ObjectRef, ReservationChange, WriteRefusal,
};
pub use effect::{Effect, Eviction, Nomination, PodEvent, Subject};
pub use figures::Figures;
pub use input::{BindingOutcome, ComparisonCause, EvictionOutcome, Input};
pub use note::{AttemptResult, ComparisonResult, Note};
pub use replica_status::ReplicaStatus;

use crate::comparer::Comparer;
use crate::controller::Controller;
use crate::extender_logic::ExtenderLogic;
use crate::owners::OwnerReads;
use crate::queue::Backoff;
use crate::scheduler::Scheduler;
use common::cluster::{Change, Cluster, Event};
use common::config::Extender;
use common::framework::Registry;
use common::model::{CatalogKind, Text};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// One moment, by both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The API server's time.
    pub wall: Timestamp,
    /// The time since the daemon started, which never jumps.
    pub elapsed: Duration,
}

/// What a part of the daemon has to work with while one input is handled.
pub struct Step<'a> {
    pub cluster: &'a mut Cluster,
    /// The time at which the input is handled.
    pub now: Now,
    pub effects: &'a mut Vec<Effect>,
    pub notes: &'a mut Vec<Note>,
}

/// Everything that the daemon knows.
pub struct State {
    cluster: Cluster,
    scheduler: Scheduler,
    extender_logic: ExtenderLogic,
    controller: Controller,
    owners: OwnerReads,
    comparer: Comparer,
    notes: Vec<Note>,
    /// Whether this replica is the leader, which decides and writes.
    is_leading: bool,
    /// What a new leader has yet to see before it decides.
    lag: Option<lag::Lag>,
    is_stopped: bool,
    names: Arc<[Text]>,
    /// Whether the replica's Lease should be written soon: see [`State::take_news`].
    has_news: bool,
}

impl State {
    /// A daemon that places the pods that name one of `profiles`.
    pub fn new(profiles: BTreeMap<Text, Registry>, backoff: Backoff) -> Self {
        let names: Arc<[Text]> = profiles.keys().cloned().collect();
        Self {
            extender_logic: ExtenderLogic::new(Arc::clone(&names)),
            names,
            has_news: false,
            cluster: Cluster::default(),
            scheduler: Scheduler::new(profiles, backoff),
            controller: Controller::default(),
            owners: OwnerReads::default(),
            comparer: Comparer::default(),
            notes: Vec::new(),
            is_leading: true,
            lag: None,
            is_stopped: false,
        }
    }

    /// Takes an input in, decides, and returns what is to be done: [`State::learn`] and [`State::act`].
    pub fn handle(&mut self, input: Input, now: Now) -> Vec<Effect> {
        let mut effects = self.learn(input, now);
        effects.extend(self.act(now));
        effects
    }

    /// Takes an input in. Questions of schedulers are answered; nothing else is decided.
    pub fn learn(&mut self, input: Input, now: Now) -> Vec<Effect> {
        let mut effects = Vec::new();
        let step =
            &mut Step { cluster: &mut self.cluster, now, effects: &mut effects, notes: &mut self.notes };
        // The input counts as of now, not as of the previous step.
        step.cluster.advance(now.wall);
        match input {
            Input::Cluster(event) => {
                // A new version of an object counts for a pending binding even if it changes nothing that is believed: the version
                // itself may be what a claim waits for.
                if matches!(&*event, Event::CatalogObjects(..)) {
                    self.scheduler.recheck_bindings();
                }
                let read = match &*event {
                    Event::OwnerRead(claim, answer) => Some((claim.clone(), answer.clone())),
                    _ => None,
                };
                let changes = step.cluster.apply(*event);
                if let Some((claim, answer)) = &read {
                    self.owners.answered(claim, answer, self.is_leading, step);
                }
                self.owners.changed(&changes, self.is_leading, step);
                let is_reserved = |change: &Change| matches!(change, Change::ReservationsChanged(_));
                self.has_news |= changes.iter().any(is_reserved);
                self.scheduler.changed(&changes, step);
                self.controller.changed(&changes, self.is_leading, step);
                self.comparer.proceed(step);
            }
            Input::Nominated { uid, version } => step.cluster.nomination_written(&uid, version),
            Input::Evicted { eviction, outcome } => {
                self.scheduler.eviction_answered(&eviction, &outcome, step);
            }
            Input::ObjectsWritten { pod, uid, id, outcome } => {
                self.scheduler.writes_answered(&pod, &uid, id, outcome, step);
            }
            Input::Binding { pod, uid, outcome } => {
                match self.extender_logic.binding_answered(&pod, &uid, &outcome, step) {
                    Some(changes) => self.scheduler.changed(&changes, step),
                    None => self.scheduler.binding_answered(&pod, &uid, outcome, step),
                }
            }
            Input::ExtenderAnswer { pod, uid, answer } => {
                self.scheduler.extenders_answered(&pod, &uid, answer, step);
            }
            Input::ExtenderVictims { pod, uid, answer } => {
                self.scheduler.extender_victims_answered(&pod, &uid, answer, step);
            }
            Input::Question { id, question } => {
                self.has_news |= self.extender_logic.ask(id, *question, self.is_leading, step);
            }
            Input::Leading(is_leading) => {
                self.is_leading = is_leading;
                self.lag = if is_leading { lag::Lag::new(step) } else { None };
                self.has_news = true;
                self.controller.begin();
                self.scheduler.begin();
            }
            Input::Annotated { annotation, outcome } => {
                self.controller.annotated(&annotation, &outcome, step);
            }
            Input::Compare(cause) => self.comparer.begin(cause, self.is_leading, step),
            Input::Listed(listing) => self.comparer.listed(listing, step),
            Input::Tick => {}
            Input::Stop => self.is_stopped = true,
        }
        self.has_news |= self.extender_logic.answer_due(self.is_leading, step);
        effects
    }

    /// Decides with what is known by now. It makes a limited number of decisions; when more are left, [`State::next_tick`] is now.
    pub fn act(&mut self, now: Now) -> Vec<Effect> {
        let mut effects = Vec::new();
        let step =
            &mut Step { cluster: &mut self.cluster, now, effects: &mut effects, notes: &mut self.notes };
        step.cluster.advance(now.wall);
        self.scheduler.wake_at_expiry(step);
        if !self.is_stopped && step.cluster.is_complete() {
            self.owners.act(step);
        }
        // Pods and reservations that have not been listed yet would look like free room.
        let is_ready = !self.is_stopped && step.cluster.is_complete();
        if is_ready && self.is_leading {
            // Reservations come first: the decisions below must count them.
            self.controller.act(step);
            self.lag = self.lag.filter(|lag| lag.is_behind(step.cluster, now.elapsed));
            if self.lag.is_none() {
                self.scheduler.decide(step);
            }
        } else if is_ready {
            self.controller.stand_in(step);
        }
        effects
    }

    /// When to call with [`Input::Tick`] if no other input comes before.
    pub fn next_tick(&self, now: Now) -> Option<Duration> {
        let is_idle = !self.is_leading || !self.cluster.is_complete();
        // A replica that does not lead also reads owners and answers questions.
        let is_reading = self.cluster.is_complete() && !self.is_stopped;
        let owners = if is_reading { self.owners.next_tick(&self.cluster) } else { None };
        let extender_logic = self.extender_logic.next_tick();
        if is_idle {
            let missing = if is_reading { self.controller.stand_in_due() } else { None };
            return [extender_logic, owners, missing].into_iter().flatten().min();
        }
        let scheduler = match self.lag {
            Some(lag) => Some(lag.until),
            None => self.scheduler.next_tick(now),
        };
        let ticks = [scheduler, self.controller.next_tick(now), extender_logic, owners];
        ticks.into_iter().flatten().min()
    }

    /// Sets the extenders that are asked before a pod is placed.
    pub fn set_extenders(&mut self, extenders: &[Extender]) {
        self.scheduler.set_extenders(extenders);
    }

    /// Objects of these kinds are read by nobody: no decision waits for them.
    pub fn set_unwatched(&mut self, kinds: impl Iterator<Item = CatalogKind>) {
        kinds.for_each(|kind| drop(self.cluster.apply(Event::CatalogKindUnreadable(kind))));
    }

    /// Sets how many automatic reservations a namespace may have.
    pub fn set_automatic_max(&mut self, most: usize) {
        self.cluster.set_automatic_max(most);
    }

    /// Whether every kind was listed once, so that decisions can be made.
    pub fn is_complete(&self) -> bool {
        self.cluster.is_complete()
    }

    /// What this replica publishes about itself in its Lease.
    pub fn replica_status(&self) -> ReplicaStatus {
        let (nodes, pods) = self.cluster.newest_versions();
        let schedulers = if self.is_leading { Arc::clone(&self.names) } else { Arc::default() };
        ReplicaStatus { nodes, pods, schedulers, extends: self.extender_logic.extends() }
    }

    /// Whether something happened since the previous call that the other replicas and the command should learn at once from this
    /// replica's Lease: a writer of a reservation waits until every replica has seen it.
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    /// Notes how many events were dropped because too many waited.
    pub fn dropped(&mut self, count: u64) {
        if count > 0 {
            self.notes.push(Note::EventsDropped { count });
        }
    }

    /// The notes since the previous call.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }
}
