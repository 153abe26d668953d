//! From waiting pods to bindings: whose turn it is, what the cycle says, what becomes of that.
//!
//! Knows nothing of: the API server, who asked for the pods.

mod asking;
mod placing;

pub use asking::Opinions;

use crate::queue::{Backoff, Queue};
use crate::state::{Attempted, Effect, Note, Now, PodEvent, Step};
use asking::Asking;
use common::cluster::Change;
use common::cycle::{self, Decision, Refusal};
use common::framework::{Cure, Registry, Reserved};
use common::model::ids::Text;
use common::model::{Pod, PodKey};
use common::plugins::priority_sort::PrioritySort;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Decisions in one call of [`Scheduler::decide`]. Between two calls news from the cluster gets in.
const DECISIONS_MAX: usize = 64;

/// The condition's reason when no node can have the pod.
const UNSCHEDULABLE: &str = "Unschedulable";

/// The condition's reason when a node could, but something went wrong.
const SCHEDULER_ERROR: &str = "SchedulerError";

/// The scheduler.
pub(crate) struct Scheduler {
    /// The plugins of each scheduler name that is served.
    profiles: BTreeMap<Text, Registry>,
    queue: Queue,
    asking: Asking,
    /// When a reservation ends next; then pods that it kept out are tried again.
    next_expiry: Option<Timestamp>,
}

impl Scheduler {
    /// A scheduler for the pods that name one of `profiles`.
    pub(crate) fn new(profiles: BTreeMap<Text, Registry>, backoff: Backoff) -> Self {
        // All profiles share one queue, and the configuration sees to it that they agree on its order.
        let sort = profiles.values().find_map(|registry| registry.queue_sort.clone());
        Self {
            profiles,
            queue: Queue::new(backoff, sort.unwrap_or_else(|| Arc::new(PrioritySort))),
            asking: Asking::default(),
            next_expiry: None,
        }
    }

    /// When something is due by itself.
    pub(crate) fn next_tick(&self, now: Now) -> Option<Duration> {
        let expiry = self.next_expiry.map(|at| {
            let left = Duration::try_from(at.duration_since(now.wall)).unwrap_or_default();
            now.elapsed + left
        });
        [self.queue.next_due(), expiry].into_iter().flatten().min()
    }

    /// Learns what an event altered.
    pub(crate) fn changed(&mut self, changes: &[Change], step: &mut Step<'_>) {
        let mut cures = BTreeSet::new();
        for change in changes {
            match change {
                Change::PodWaiting(key) => {
                    self.enqueue(key, step);
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
                // What they alter is told as a change of the node.
                Change::ReservationsChanged(_) | Change::ReplicasChanged => {}
                // Only the controller cares.
                Change::OwnerChanged(_) | Change::KeepInvalid(..) => {}
                Change::OthersChanged(_) => {
                    cures.extend([Cure::Node, Cure::Owner, Cure::Pods, Cure::Room, Cure::Storage]);
                }
            }
        }
        for cure in cures {
            self.queue.wake(cure, step.now.elapsed);
        }
    }

    fn enqueue(&mut self, key: &PodKey, step: &Step<'_>) {
        let Some(pod) = step.cluster.pod(key) else { return };
        if self.profiles.contains_key(&pod.spec.scheduler_name) && !step.cluster.is_assumed(key) {
            self.queue.push(key, pod.spec.priority, step.now.elapsed);
        }
    }

    /// A reservation that has ended leaves room, although nothing happened in the cluster.
    pub(crate) fn wake_at_expiry(&mut self, step: &Step<'_>) {
        let now = step.now;
        if self.next_expiry.is_some_and(|at| at <= now.wall) {
            self.queue.wake(Cure::Room, now.elapsed);
        }
        self.next_expiry = step.cluster.next_expiry(now.wall);
    }

    /// Decides on the pods whose turn it is.
    pub(crate) fn decide(&mut self, step: &mut Step<'_>) {
        for _ in 0..DECISIONS_MAX {
            if self.asking.is_busy() {
                return;
            }
            let Some(key) = self.queue.pop(step.now.elapsed) else { return };
            let Some(pod) = step.cluster.pod(&key).filter(|pod| pod.is_waiting()).cloned() else {
                self.queue.remove(&key);
                continue;
            };
            if step.cluster.is_owner_missing(&pod) && self.queue.postpone(&key, step.now.elapsed) {
                continue;
            }
            if !self.ask_extenders(&pod, step) {
                self.attempt(&pod, step);
            }
        }
    }

    fn attempt(&mut self, pod: &Pod, step: &mut Step<'_>) {
        let Some(registry) = self.profiles.get(&pod.spec.scheduler_name) else { return };
        let decision = cycle::schedule(pod, &step.cluster.snapshot(step.now.wall), registry);
        self.conclude(pod, decision, step);
    }

    /// Carries out what was decided.
    fn conclude(&mut self, pod: &Pod, decision: Decision, step: &mut Step<'_>) {
        let elapsed = step.now.elapsed;
        let result = match decision {
            Decision::Place { node, seat, volumes } => {
                self.place(pod, node, Reserved { seat, volumes }, step)
            }
            Decision::NoFit(no_fit) => {
                // A new node may help, whatever the others lack; there may be no others.
                let cures = no_fit.trace.cures().into_iter().chain([Cure::Node]).collect();
                self.queue.park(&pod.key, cures, elapsed);
                self.tell(pod, UNSCHEDULABLE, no_fit.message(), step);
                Attempted::Unschedulable
            }
            Decision::Refused(refusal) => self.refuse(pod, &refusal, step),
            Decision::Failed(why) => {
                self.queue.retry(&pod.key, elapsed);
                self.tell(pod, SCHEDULER_ERROR, why, step);
                Attempted::Error
            }
        };
        step.notes.push(Note::Attempt { profile: pod.spec.scheduler_name.clone(), result });
    }

    /// Only a change of the pod itself, or a release of ours that serves more, can help: there is nothing to wait
    /// for. Of gates the API server has already told the pod.
    fn refuse(&mut self, pod: &Pod, refusal: &Refusal, step: &mut Step<'_>) -> Attempted {
        self.queue.park(&pod.key, BTreeSet::new(), step.now.elapsed);
        if !matches!(refusal, Refusal::Gated(_)) {
            self.tell(pod, UNSCHEDULABLE, refusal.to_string(), step);
        }
        Attempted::Unschedulable
    }

    /// Tells the pod why it has no place, unless its condition says so already.
    fn tell(&self, pod: &Pod, reason: &'static str, message: String, step: &mut Step<'_>) {
        let known = pod.unscheduled();
        if known.is_some_and(|known| &*known.reason == reason && *known.message == message) {
            return;
        }
        step.effects.push(Effect::Condition {
            pod: pod.key.clone(),
            uid: pod.uid.clone(),
            generation: pod.generation,
            reason,
            message: message.clone(),
            since: known.is_none().then_some(step.now.wall),
        });
        step.effects.push(record(pod, PodEvent::FailedScheduling { message }, step.now));
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
