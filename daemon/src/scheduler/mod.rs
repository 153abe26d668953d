//! From waiting pods to bindings: whose turn it is, what the cycle says, what becomes of that.
//!
//! Knows nothing of: the API server, who asked for the pods.

mod asking;
mod choosing;
mod pending_bindings;
mod placing;
mod preempting;
mod rejected;
mod telling;
mod volumes;

pub use asking::Opinions;
pub use choosing::Candidate;

use crate::queue::{Backoff, Pending, Queue};
use crate::state::{Attempted, Nomination, Note, Now, Step};
use asking::Asking;
use common::api::names::WAITING_FOR_RESERVED_NODE;
use common::cluster::Change;
use common::cycle::{self, Awaited, Decision, NoFit, Refusal};
use common::framework::{Cure, Registry, Reserved};
use common::model::ids::Text;
use common::model::{OtherKind, Pod, PodKey};
use common::plugins::priority_sort::PrioritySort;
use jiff::Timestamp;
use pending_bindings::PendingBinding;
use preempting::Preemption;
use rejected::Rejected;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use telling::Said;

/// Decisions in one call of [`Scheduler::decide`]. Between two calls news from the cluster gets in.
const DECISIONS_MAX: usize = 64;

/// A pod without a place is worth so many decisions: every node has to say why.
const HOPELESS: usize = 8;

/// The condition's reason when no node can have the pod.
const UNSCHEDULABLE: &str = "Unschedulable";

/// The condition's reason when a node could, but something went wrong.
const SCHEDULER_ERROR: &str = "SchedulerError";

/// Anything that can happen.
const EVERY_CURE: [Cure; 6] = [Cure::Room, Cure::Node, Cure::Owner, Cure::Pods, Cure::Storage, Cure::Pod];

/// The scheduler.
pub(crate) struct Scheduler {
    /// The plugins of each scheduler name that is served.
    profiles: BTreeMap<Text, Registry>,
    queue: Queue,
    /// Whether it has decided anything since it is the one that decides.
    has_begun: bool,
    /// Pods that have a node, and wait for leave or for their volumes before they are bound.
    pending_bindings: BTreeMap<PodKey, PendingBinding>,
    /// How many there have been, so that each has a number of its own.
    flights_begun: u64,
    /// Whether something happened that they may have waited for.
    is_stirred: bool,
    /// Pods that others are being deleted for.
    preemptions: BTreeMap<PodKey, Preemption>,
    /// What waiting pods were last told by an event.
    said: BTreeMap<PodKey, Said>,
    asking: Asking,
    rejected: Rejected,
    /// When each binding that is under way was asked for.
    bindings: BTreeMap<PodKey, Duration>,
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
            has_begun: false,
            pending_bindings: BTreeMap::new(),
            flights_begun: 0,
            is_stirred: false,
            preemptions: BTreeMap::new(),
            said: BTreeMap::new(),
            asking: Asking::default(),
            rejected: Rejected::default(),
            bindings: BTreeMap::new(),
            next_expiry: None,
        }
    }

    /// When something is due by itself.
    pub(crate) fn next_tick(&self, now: Now) -> Option<Duration> {
        let expiry = self.next_expiry.map(|at| {
            let left = Duration::try_from(at.duration_since(now.wall)).unwrap_or_default();
            now.elapsed + left
        });
        // While extenders are asked nobody else is decided on, however ready.
        let ready = if self.asking.is_busy() { None } else { self.queue.next_due() };
        [ready, self.next_flight_due(), expiry].into_iter().flatten().min()
    }

    /// How many pods wait, and for what.
    pub(crate) fn pending(&self) -> Pending {
        self.queue.pending()
    }

    /// How many pods have no place, by their scheduler and each plugin that kept them from one.
    pub(crate) fn rejected(&self) -> BTreeMap<(Text, &'static str), usize> {
        self.rejected.count()
    }

    /// From now on it is this scheduler that decides; what it decided before is long ago.
    pub(crate) fn begin(&mut self) {
        self.has_begun = false;
    }

    /// Pods whose owners keep their places and are short may have lost theirs while nobody was there to keep them: they
    /// go first within their priority.
    fn boost(&mut self, step: &Step<'_>) {
        for key in self.queue.pods() {
            if let Some(pod) = step.cluster.pod(&key).filter(|pod| step.cluster.is_kept_and_short(pod)) {
                self.queue.boost(&key, pod.spec.priority, step.now.elapsed);
            }
        }
    }

    /// Learns what an event altered.
    pub(crate) fn changed(&mut self, changes: &[Change], step: &mut Step<'_>) {
        self.changed_by(None, changes, step);
    }

    /// The same, when it is the doing of a pod that this cannot help.
    fn changed_by(&mut self, by: Option<&PodKey>, changes: &[Change], step: &mut Step<'_>) {
        let mut cures = BTreeSet::new();
        for change in changes {
            match change {
                Change::PodWaiting(key) => self.enqueue(key, step),
                Change::PodSettled(key) => {
                    self.settled(key, step);
                    cures.extend([Cure::Pods]);
                }
                // Other nodes can be in a better light without the pods and labels of one.
                Change::NodeChanged(_) => cures.extend([Cure::Node, Cure::Room, Cure::Pods, Cure::Storage]),
                Change::NodeGone(_) => cures.extend([Cure::Pods]),
                Change::RoomFreed(_) => cures.extend([Cure::Room, Cure::Pods]),
                Change::OwnersChanged => cures.extend([Cure::Owner, Cure::Room]),
                // What they alter is told as a change of the node.
                Change::ReservationsChanged(_) | Change::ReplicasChanged => {}
                // Only the controller cares.
                Change::OwnerChanged(_) | Change::KeepInvalid(..) => {}
                Change::OthersChanged(kind) => cures.extend(cured_by(*kind)),
            }
        }
        self.is_stirred |= !changes.is_empty();
        for cure in cures {
            self.queue.wake_others(cure, by, step.now.elapsed);
        }
    }

    fn enqueue(&mut self, key: &PodKey, step: &Step<'_>) {
        let Some(pod) = step.cluster.pod(key) else { return };
        if self.profiles.contains_key(&pod.spec.scheduler_name) && !step.cluster.is_assumed(key) {
            self.queue.push(key, pod.spec.priority, step.now.elapsed);
        }
    }

    /// A pod no longer waits: it was bound, or is on its way out.
    fn settled(&mut self, key: &PodKey, step: &mut Step<'_>) {
        self.said.remove(key);
        self.rejected.remove(key);
        self.abandon(key, step);
        // One whose turn has come is told when it comes, as upstream does.
        let is_deleting = step.cluster.pod(key).is_some_and(|pod| pod.deleting && pod.node.is_none());
        if !(is_deleting && self.queue.is_active(key)) {
            self.queue.remove(key);
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
        if !std::mem::replace(&mut self.has_begun, true) {
            self.boost(step);
        }
        // The controller has dropped what it was about to write.
        if step.cluster.take_dropped() {
            self.queue.wake(Cure::Room, step.now.elapsed);
        }
        self.look_after_flights(step);
        let mut left = DECISIONS_MAX;
        while left > 0 && !self.asking.is_busy() {
            left -= 1;
            let Some(key) = self.queue.pop(step.now.elapsed) else { break };
            let Some(pod) = step.cluster.pod(&key).filter(|pod| pod.is_waiting()).cloned() else {
                self.skip(&key, step);
                continue;
            };
            if self.is_preempting(&pod, step) {
                self.queue.gate(&key, step.now.elapsed);
                continue;
            }
            if step.cluster.is_owner_missing(&pod) && self.queue.postpone(&key, step.now.elapsed) {
                continue;
            }
            if !self.ask_extenders(&pod, step) && self.attempt(&pod, step) != Attempted::Scheduled {
                left = left.saturating_sub(HOPELESS - 1);
            }
        }
        for ((queue, why), count) in self.queue.take_moves() {
            step.notes.push(Note::Queued { queue, event: why.as_str(), count });
        }
    }

    fn attempt(&mut self, pod: &Pod, step: &mut Step<'_>) -> Attempted {
        let Some(registry) = self.profiles.get(&pod.spec.scheduler_name) else { return Attempted::Error };
        let decision = cycle::schedule(pod, &step.cluster.snapshot(step.now.wall), registry);
        self.conclude(pod, decision, step)
    }

    /// Carries out what was decided.
    fn conclude(&mut self, pod: &Pod, decision: Decision, step: &mut Step<'_>) -> Attempted {
        let result = match decision {
            Decision::Place { node, seat, volumes } => {
                self.place(pod, node, Reserved { seat, volumes }, step)
            }
            Decision::NoFit(no_fit) => {
                if !self.ask_about_victims(pod, &no_fit, step) {
                    self.conclude_no_fit(pod, &no_fit, step);
                }
                return Attempted::Unschedulable;
            }
            Decision::Awaits(awaited) => self.keep_back(pod, &awaited, step),
            Decision::Refused(refusal) => self.refuse(pod, &refusal, step),
            Decision::Failed(why) => {
                self.queue.retry(&pod.key, step.now.elapsed);
                self.tell(pod, SCHEDULER_ERROR, why, Nomination::Change(None), step);
                Attempted::Error
            }
        };
        step.notes.push(Note::Attempt { profile: pod.spec.scheduler_name.clone(), result });
        result
    }

    fn conclude_no_fit(&mut self, pod: &Pod, no_fit: &NoFit, step: &mut Step<'_>) {
        let result = self.no_fit(pod, no_fit, step);
        step.notes.push(Note::Attempt { profile: pod.spec.scheduler_name.clone(), result });
    }

    /// No node can have it. Others may have to go for it.
    fn no_fit(&mut self, pod: &Pod, no_fit: &NoFit, step: &mut Step<'_>) -> Attempted {
        self.park(pod, no_fit, step);
        self.rejected.insert(pod, no_fit.trace.plugins());
        let nomination = match &no_fit.help.nominated {
            Some(victims) => Nomination::Change(Some(victims.node.clone())),
            None if no_fit.help.takes_back || no_fit.trace.nodes.is_empty() => Nomination::Change(None),
            None => Nomination::Keep,
        };
        self.tell(pod, UNSCHEDULABLE, no_fit.message(), nomination, step);
        if let Some(victims) = &no_fit.help.nominated {
            self.preempt(pod, victims, step);
        }
        Attempted::Unschedulable
    }

    /// A new node may help, whatever the others lack; there may be no others.
    fn park(&mut self, pod: &Pod, no_fit: &NoFit, step: &Step<'_>) {
        let cures = no_fit.trace.cures().into_iter().chain([Cure::Node]).collect();
        self.queue.park(&pod.key, cures, step.now.elapsed);
    }

    /// It waits for a node that is kept for it. More nodes would not help, so that nobody is to make any.
    fn keep_back(&mut self, pod: &Pod, awaited: &Awaited, step: &mut Step<'_>) -> Attempted {
        let left = awaited.until.map(|until| until.duration_since(step.now.wall));
        let at_most = left.map_or(Duration::MAX, |left| Duration::try_from(left).unwrap_or_default());
        self.queue.park_for(&pod.key, EVERY_CURE.into(), at_most, step.now.elapsed);
        self.tell(pod, WAITING_FOR_RESERVED_NODE, awaited.to_string(), Nomination::Keep, step);
        Attempted::Unschedulable
    }

    /// Only a change of the pod itself, or a release of ours that serves more, can help: there is nothing to wait
    /// for. Of gates the API server has already told the pod.
    fn refuse(&mut self, pod: &Pod, refusal: &Refusal, step: &mut Step<'_>) -> Attempted {
        if let Refusal::Gated(rejections) = refusal {
            self.rejected.insert(pod, rejections.iter().map(|rejection| rejection.plugin).collect());
            self.queue.gate(&pod.key, step.now.elapsed);
        } else {
            self.queue.park(&pod.key, BTreeSet::new(), step.now.elapsed);
            self.tell(pod, UNSCHEDULABLE, refusal.to_string(), Nomination::Keep, step);
        }
        Attempted::Unschedulable
    }
}

/// What a change of objects of this kind could help with. A budget that allows more helps nobody to a place by itself.
fn cured_by(kind: OtherKind) -> &'static [Cure] {
    match kind {
        OtherKind::Namespace | OtherKind::Service => &[Cure::Pods],
        OtherKind::PersistentVolume
        | OtherKind::PersistentVolumeClaim
        | OtherKind::StorageClass
        | OtherKind::CsiDriver
        | OtherKind::CsiStorageCapacity => &[Cure::Storage],
        // They also say how many volumes a node can have.
        OtherKind::CsiNode | OtherKind::VolumeAttachment => &[Cure::Storage, Cure::Room],
        OtherKind::PodDisruptionBudget | OtherKind::ResourceQuota => &[],
    }
}
