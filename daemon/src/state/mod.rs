//! The daemon as a state machine: `handle(input, now) -> effects`. It has two halves, `learn` and `act`, for whoever has
//! several inputs at once: what is known is better taken in before anything is decided.
//!
//! Everything it knows came in through an input; everything it wants goes out as an effect. It can be driven
//! without a client, without a runtime and at any time. Its parts share one belief about the cluster, which each of
//! them gets for the length of one [`Step`].

mod effect;
mod figures;
mod input;
mod lag;
mod note;
mod reserving;
mod sight;
#[cfg(test)]
mod tests;

pub use crate::scheduler::{Candidate, Opinions};
pub use effect::{Effect, Eviction, Nomination, PodEvent, Subject, VolumeWrite};
pub use figures::Figures;
pub use input::{Binding, Cause, Evicted, Input};
pub use note::{Attempted, Compared, Note};
pub use reserving::{Annotated, Annotation, EXPIRED, ObjectEvent, ObjectRef, Refusal, Rewrite};
pub use sight::Sight;

use crate::comparer::Comparer;
use crate::controller::Controller;
use crate::extender_logic::ExtenderLogic;
use crate::owners::OwnerReads;
use crate::queue::Backoff;
use crate::scheduler::Scheduler;
use common::cluster::{Change, Cluster, Event};
use common::config::Extender;
use common::framework::Registry;
use common::model::OtherKind;
use common::model::ids::Text;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What pods wait for whose volumes are under way: even a version of them that says nothing new is news then.
const VOLUMES: [OtherKind; 2] = [OtherKind::PersistentVolume, OtherKind::PersistentVolumeClaim];

/// One moment, on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The time of the API server.
    pub wall: Timestamp,
    /// The time since the daemon started, which never jumps.
    pub elapsed: Duration,
}

/// What a part of the daemon has to work with while one input is handled.
pub struct Step<'a> {
    /// What is believed about the cluster.
    pub cluster: &'a mut Cluster,
    /// The moment.
    pub now: Now,
    /// What is wished for so far.
    pub effects: &'a mut Vec<Effect>,
    /// What happened so far.
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
    /// Whether it is this daemon's part to decide and write. Others look on, ready to take over.
    is_leading: bool,
    /// What it has yet to see before it decides.
    lag: Option<lag::Lag>,
    is_stopped: bool,
    /// Every scheduler name that is served.
    names: Arc<[Text]>,
    /// Whether somebody may wait to hear what was seen.
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

    /// Takes in what happened, and says what is to be done about it: both of what follows.
    pub fn handle(&mut self, input: Input, now: Now) -> Vec<Effect> {
        let mut effects = self.learn(input, now);
        effects.extend(self.act(now));
        effects
    }

    /// Takes in what happened. Whoever asked something is answered; nothing else is decided.
    pub fn learn(&mut self, input: Input, now: Now) -> Vec<Effect> {
        let mut effects = Vec::new();
        let step =
            &mut Step { cluster: &mut self.cluster, now, effects: &mut effects, notes: &mut self.notes };
        // What is learnt now is learnt as of now.
        step.cluster.advance(now.wall);
        match input {
            Input::Cluster(event) => {
                if matches!(&*event, Event::Others(kind, _) if VOLUMES.contains(kind)) {
                    self.scheduler.stir();
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
                self.comparer.go_on(step);
            }
            Input::Nominated { uid, version } => step.cluster.nomination_written(&uid, version),
            Input::Evicted { eviction, outcome } => self.scheduler.evicted(&eviction, &outcome, step),
            Input::Volumes { pod, uid, id, outcome } => {
                self.scheduler.volumes(&pod, &uid, id, outcome, step);
            }
            Input::Binding { pod, uid, outcome } => {
                match self.extender_logic.binding(&pod, &uid, &outcome, step) {
                    Some(changes) => self.scheduler.changed(&changes, step),
                    None => self.scheduler.binding(&pod, &uid, outcome, step),
                }
            }
            Input::Answered { pod, uid, answer } => self.scheduler.answered(&pod, &uid, answer, step),
            Input::Chosen { pod, uid, answer } => self.scheduler.chosen(&pod, &uid, answer, step),
            Input::Question { id, question } => {
                self.has_news |= self.extender_logic.ask(id, *question, self.is_leading, step);
            }
            Input::Leading(is_leading) => {
                self.is_leading = is_leading;
                self.lag = if is_leading { lag::Lag::of(step) } else { None };
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
        self.has_news |= self.extender_logic.turn(self.is_leading, step);
        effects
    }

    /// Decides on what is known by now. When there is more to decide on than is good at once, the next tick is due now.
    pub fn act(&mut self, now: Now) -> Vec<Effect> {
        let mut effects = Vec::new();
        let step =
            &mut Step { cluster: &mut self.cluster, now, effects: &mut effects, notes: &mut self.notes };
        step.cluster.advance(now.wall);
        self.scheduler.wake_at_expiry(step);
        if !self.is_stopped && step.cluster.is_complete() {
            self.owners.act(step);
        }
        // What has not been listed yet looks like room.
        let is_ready = !self.is_stopped && step.cluster.is_complete();
        if is_ready && self.is_leading {
            // Reservations first: whoever is decided on next is to find them.
            self.controller.act(step);
            self.lag = self.lag.filter(|lag| lag.is_there(step.cluster, now.elapsed));
            if self.lag.is_none() {
                self.scheduler.decide(step);
            }
        } else if is_ready {
            self.controller.stand_in(step);
        }
        effects
    }

    /// When to call with [`Input::Tick`] if nothing happens before.
    pub fn next_tick(&self, now: Now) -> Option<Duration> {
        let is_idle = !self.is_leading || !self.cluster.is_complete();
        // Whoever does not lead reads and answers all the same.
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

    /// Lets these extenders have a say.
    pub fn set_extenders(&mut self, extenders: &[Extender]) {
        self.scheduler.set_extenders(extenders);
    }

    /// Lets a namespace have so many automatic reservations.
    pub fn set_automatic_max(&mut self, most: usize) {
        self.cluster.set_automatic_max(most);
    }

    /// Whether everything was listed once, so that decisions can be made.
    pub fn is_complete(&self) -> bool {
        self.cluster.is_complete()
    }

    /// What this replica tells others about itself.
    pub fn sight(&self) -> Sight {
        let (nodes, pods) = self.cluster.newest();
        let schedulers = if self.is_leading { Arc::clone(&self.names) } else { Arc::default() };
        Sight { nodes, pods, schedulers, extends: self.extender_logic.extends() }
    }

    /// Whether, since this was asked last, something happened that others wait to hear of: whoever writes a reservation
    /// goes on only when every replica has seen it.
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    /// Learns that events were not written because too many waited.
    pub fn dropped(&mut self, count: u64) {
        if count > 0 {
            self.notes.push(Note::EventsDropped { count });
        }
    }

    /// What happened since this was asked last.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }
}
