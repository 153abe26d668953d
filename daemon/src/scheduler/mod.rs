//! The scheduler as a state machine: `handle(input, now) -> effects`.
//!
//! Everything it knows came in through an input; everything it wants goes out as an effect. It can be driven
//! without a client, without a runtime and at any time.

mod effect;
mod input;
mod placing;
#[cfg(test)]
mod tests;

pub use effect::{Effect, PodEvent};
pub use input::{Binding, Input};

use crate::queue::{Backoff, Queue};
use common::cluster::{Change, Cluster};
use common::cycle::{self, Decision, Refusal};
use common::framework::{Cure, Registry, Reserved};
use common::model::ids::Text;
use common::model::{Pod, PodKey};
use common::plugins::priority_sort::PrioritySort;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Decisions in one call of [`Scheduler::handle`]. Between two calls news from the cluster gets in.
const DECISIONS_MAX: usize = 64;

/// The condition's reason when no node can have the pod.
const UNSCHEDULABLE: &str = "Unschedulable";

/// The condition's reason when a node could, but something went wrong.
const SCHEDULER_ERROR: &str = "SchedulerError";

/// One moment, on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The time of the API server.
    pub wall: Timestamp,
    /// The time since the daemon started, which never jumps.
    pub elapsed: Duration,
}

/// The scheduler.
pub struct Scheduler {
    /// The plugins of each scheduler name that is served.
    profiles: BTreeMap<Text, Registry>,
    cluster: Cluster,
    queue: Queue,
    is_stopped: bool,
    /// When a reservation ends next; then pods that it kept out are tried again.
    next_expiry: Option<Timestamp>,
}

impl Scheduler {
    /// A scheduler for the pods that name one of `profiles`.
    pub fn new(profiles: BTreeMap<Text, Registry>, backoff: Backoff) -> Self {
        // All profiles share one queue, and the configuration sees to it that they agree on its order.
        let sort = profiles.values().find_map(|registry| registry.queue_sort.clone());
        Self {
            profiles,
            cluster: Cluster::default(),
            queue: Queue::new(backoff, sort.unwrap_or_else(|| Arc::new(PrioritySort))),
            is_stopped: false,
            next_expiry: None,
        }
    }

    /// Takes in what happened, and says what is to be done about it.
    pub fn handle(&mut self, input: Input, now: Now) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Cluster(event) => {
                let changes = self.cluster.apply(*event);
                self.changed(&changes, now);
            }
            Input::Binding { pod, uid, outcome } => self.binding(&pod, &uid, outcome, now, &mut effects),
            Input::Tick => {}
            Input::Stop => self.is_stopped = true,
        }
        self.wake_at_expiry(now);
        self.decide(now, &mut effects);
        effects
    }

    /// When to call with [`Input::Tick`] if nothing happens before.
    pub fn next_tick(&self, now: Now) -> Option<Duration> {
        if !self.cluster.is_complete() {
            return None;
        }
        let expiry = self.next_expiry.map(|at| {
            let left = Duration::try_from(at.duration_since(now.wall)).unwrap_or_default();
            now.elapsed + left
        });
        [self.queue.next_due(), expiry].into_iter().flatten().min()
    }

    fn changed(&mut self, changes: &[Change], now: Now) {
        let mut cures = BTreeSet::new();
        for change in changes {
            match change {
                Change::PodWaiting(key) => {
                    self.enqueue(key, now);
                    cures.extend([Cure::Pods]);
                }
                Change::PodSettled(key) => {
                    self.queue.remove(key);
                    cures.extend([Cure::Pods]);
                }
                // Other nodes can be in a better light without the pods and labels of one.
                Change::NodeChanged(_) => cures.extend([Cure::Node, Cure::Room, Cure::Pods]),
                Change::NodeGone(_) => cures.extend([Cure::Pods]),
                Change::RoomFreed(_) => cures.extend([Cure::Room, Cure::Pods]),
                Change::OwnersChanged => cures.extend([Cure::Owner, Cure::Room]),
                Change::OthersChanged(_) => {
                    cures.extend([Cure::Node, Cure::Owner, Cure::Pods, Cure::Room, Cure::Storage]);
                }
            }
        }
        for cure in cures {
            self.queue.wake(cure, now.elapsed);
        }
    }

    fn enqueue(&mut self, key: &PodKey, now: Now) {
        let Some(pod) = self.cluster.pod(key) else { return };
        if self.profiles.contains_key(&pod.spec.scheduler_name) && !self.cluster.is_assumed(key) {
            self.queue.push(key, pod.spec.priority, now.elapsed);
        }
    }

    /// A reservation that has ended leaves room, although nothing happened in the cluster.
    fn wake_at_expiry(&mut self, now: Now) {
        if self.next_expiry.is_some_and(|at| at <= now.wall) {
            self.queue.wake(Cure::Room, now.elapsed);
        }
        self.next_expiry = self.cluster.next_expiry(now.wall);
    }

    fn decide(&mut self, now: Now, effects: &mut Vec<Effect>) {
        // What has not been listed yet looks like room.
        if self.is_stopped || !self.cluster.is_complete() {
            return;
        }
        for _ in 0..DECISIONS_MAX {
            let Some(key) = self.queue.pop(now.elapsed) else { return };
            let Some(pod) = self.cluster.pod(&key).filter(|pod| pod.is_waiting()).cloned() else {
                self.queue.remove(&key);
                continue;
            };
            if self.cluster.is_owner_missing(&pod) && self.queue.postpone(&key, now.elapsed) {
                continue;
            }
            let Some(registry) = self.profiles.get(&pod.spec.scheduler_name) else { continue };
            let decision = cycle::schedule(&pod, &self.cluster.snapshot(now.wall), registry);
            match decision {
                Decision::Place { node, seat, volumes } => {
                    self.place(&pod, node, Reserved { seat, volumes }, now, effects);
                }
                Decision::NoFit(no_fit) => {
                    // A new node may help, whatever the others lack; there may be no others.
                    let cures = no_fit.trace.cures().into_iter().chain([Cure::Node]).collect();
                    self.queue.park(&key, cures, now.elapsed);
                    self.tell(&pod, UNSCHEDULABLE, no_fit.message(), now, effects);
                }
                Decision::Refused(refusal) => self.refuse(&pod, &refusal, now, effects),
                Decision::Failed(why) => {
                    self.queue.retry(&key, now.elapsed);
                    self.tell(&pod, SCHEDULER_ERROR, why, now, effects);
                }
            }
        }
    }

    /// Only a change of the pod itself, or a release of ours that serves more, can help: there is nothing to wait
    /// for. Of gates the API server has already told the pod.
    fn refuse(&mut self, pod: &Pod, refusal: &Refusal, now: Now, effects: &mut Vec<Effect>) {
        self.queue.park(&pod.key, BTreeSet::new(), now.elapsed);
        if !matches!(refusal, Refusal::Gated(_)) {
            self.tell(pod, UNSCHEDULABLE, refusal.to_string(), now, effects);
        }
    }

    /// Tells the pod why it has no place, unless its condition says so already.
    fn tell(&self, pod: &Pod, reason: &'static str, message: String, now: Now, effects: &mut Vec<Effect>) {
        let known = pod.unscheduled();
        if known.is_some_and(|known| &*known.reason == reason && *known.message == message) {
            return;
        }
        effects.push(Effect::Condition {
            pod: pod.key.clone(),
            uid: pod.uid.clone(),
            generation: pod.generation,
            reason,
            message: message.clone(),
            since: known.is_none().then_some(now.wall),
        });
        effects.push(record(pod, PodEvent::FailedScheduling { message }, now));
    }
}

fn record(pod: &Pod, event: PodEvent, now: Now) -> Effect {
    Effect::Record {
        pod: pod.key.clone(),
        uid: pod.uid.clone(),
        scheduler_name: pod.spec.scheduler_name.clone(),
        event,
        at: now.wall,
    }
}
