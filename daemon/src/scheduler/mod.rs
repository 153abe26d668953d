//! The scheduler: pops pods from the queue, lets `common::cycle` decide on each, and turns the decisions into effects.
//!
//! `Scheduler::changed` learns what an event altered, `Scheduler::decide` makes decisions. A pod that gets a node goes through
//! `binding` (assume) ─▶ `pending_bindings` (Permit) ─▶ `preparations` (PreBind) ─▶ `Effect::Bind`.
//!
//! Knows nothing of: the API server, who created the pods.

mod binding;
mod extender_victims;
mod extenders;
mod pending_bindings;
mod pod_status;
mod preemption;
mod preparations;
mod unschedulable_pods;
mod wake_up;

pub use extender_victims::PreemptionCandidate;
pub use extenders::ExtenderAnswer;

use crate::queue::{ANY_CHANGE, Backoff, PendingPods, Queue, RefusedBy};
use crate::state::{AttemptResult, Nomination, Note, Now, Step};
use binding::SentBinding;
use common::api::names::WAITING_FOR_RESERVED_NODE;
use common::cluster::EventResource;
use common::cycle::{self, Decision, NoFit, NodeWait, Refusal};
use common::framework::Registry;
use common::model::ids::Text;
use common::model::{Pod, PodKey};
use extenders::ExtenderRequests;
use jiff::Timestamp;
use pending_bindings::PendingBinding;
use pod_status::LastEvent;
use preemption::Preemption;
use std::collections::BTreeMap;
use std::time::Duration;
use unschedulable_pods::UnschedulablePods;

/// The most decisions in one call of [`Scheduler::decide`]. Inputs are taken in between two calls.
const DECISIONS_MAX: usize = 64;

/// An attempt that finds no node counts as this many decisions: every node is asked for its reasons.
const UNSCHEDULABLE_COST: usize = 8;

/// The reason of the condition when no node fits.
const UNSCHEDULABLE: &str = "Unschedulable";

/// The reason of the condition when something failed.
const SCHEDULER_ERROR: &str = "SchedulerError";

pub(crate) struct Scheduler {
    /// The plugins of each scheduler name that is served.
    profiles: BTreeMap<Text, Registry>,
    queue: Queue,
    /// Whether it has decided anything since this replica began to lead.
    has_begun: bool,
    /// Pods that have a node, and wait for a Permit plugin or for their claims.
    pending_bindings: BTreeMap<PodKey, PendingBinding>,
    last_binding_id: u64,
    /// Whether something changed that a pending binding may wait for.
    has_changes: bool,
    /// The preemptors whose victims are being deleted.
    preemptions: BTreeMap<PodKey, Preemption>,
    last_events: BTreeMap<PodKey, LastEvent>,
    extender_requests: ExtenderRequests,
    unschedulable_pods: UnschedulablePods,
    bindings: BTreeMap<PodKey, SentBinding>,
    /// When the next reservation expires, which wakes pods up.
    next_expiry: Option<Timestamp>,
}

impl Scheduler {
    pub(crate) fn new(profiles: BTreeMap<Text, Registry>, backoff: Backoff) -> Self {
        // All profiles share one queue; the configuration is refused if their QueueSort plugins differ.
        let sort = profiles.values().find_map(|registry| registry.queue_sort.clone());
        Self {
            profiles,
            queue: Queue::new(backoff, sort),
            has_begun: false,
            pending_bindings: BTreeMap::new(),
            last_binding_id: 0,
            has_changes: false,
            preemptions: BTreeMap::new(),
            last_events: BTreeMap::new(),
            extender_requests: ExtenderRequests::default(),
            unschedulable_pods: UnschedulablePods::default(),
            bindings: BTreeMap::new(),
            next_expiry: None,
        }
    }

    /// When [`Scheduler::decide`] has something to do although nothing changes.
    pub(crate) fn next_tick(&self, now: Now) -> Option<Duration> {
        let expiry = self.next_expiry.map(|at| {
            let left = Duration::try_from(at.duration_since(now.wall)).unwrap_or_default();
            now.elapsed + left
        });
        // No other pod is decided on while extenders are asked.
        let ready = if self.extender_requests.is_busy() { None } else { self.queue.next_due() };
        [ready, self.next_pending_binding_due(), expiry].into_iter().flatten().min()
    }

    /// The number of pods in each part of the queue.
    pub(crate) fn pending(&self) -> PendingPods {
        self.queue.pending()
    }

    /// The number of pods without a node, by their scheduler and by each plugin that rejected them.
    pub(crate) fn rejected(&self) -> BTreeMap<(Text, &'static str), usize> {
        self.unschedulable_pods.count()
    }

    pub(crate) fn begin(&mut self) {
        self.has_begun = false;
    }

    /// Pods with `reserve/keep` whose owner lacks pods may have lost their room while no replica led: they go first within their
    /// priority.
    fn boost(&mut self, step: &Step<'_>) {
        for key in self.queue.pods() {
            if let Some(pod) = step.cluster.pod(&key).filter(|pod| step.cluster.is_expected_replacement(pod))
            {
                self.queue.boost(&key, pod.spec.priority, step.now.elapsed);
            }
        }
    }

    /// A pod no longer waits: it was bound, or is being deleted.
    fn settled(&mut self, key: &PodKey, step: &mut Step<'_>) {
        self.last_events.remove(key);
        self.unschedulable_pods.remove(key);
        self.abandon(key, step);
        // A pod of the active queue stays there: it gets its event when it is popped, as in kube-scheduler.
        let is_deleting = step.cluster.pod(key).is_some_and(|pod| pod.deleting && pod.node.is_none());
        if !(is_deleting && self.queue.is_active(key)) {
            self.queue.remove(key);
        }
    }

    /// Wakes pods up when a reservation has expired: its room is free, although no event says so.
    pub(crate) fn wake_at_expiry(&mut self, step: &mut Step<'_>) {
        let now = step.now;
        if self.next_expiry.is_some_and(|at| at <= now.wall) {
            self.wake_by(EventResource::Reservation, step);
        }
        self.next_expiry = step.cluster.next_expiry(now.wall);
    }

    /// Pops pods and decides on them, at most [`DECISIONS_MAX`].
    pub(crate) fn decide(&mut self, step: &mut Step<'_>) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.boost(step);
        }
        // The controller gave up a write, so that room which was kept for it is free.
        if step.cluster.take_dropped() {
            self.wake_by(EventResource::Reservation, step);
        }
        self.advance_pending_bindings(step);
        let mut left = DECISIONS_MAX;
        while left > 0 && !self.extender_requests.is_busy() {
            left -= 1;
            let Some(key) = self.queue.pop(step.now.elapsed) else { break };
            let Some(pod) = step.cluster.pod(&key).filter(|pod| pod.is_waiting()).cloned() else {
                self.skip(&key, step);
                continue;
            };
            if self.is_preempting(&pod, step) {
                self.queue.gate(&pod, RefusedBy::new(), step.now.elapsed);
                continue;
            }
            if step.cluster.is_owner_missing(&pod) && self.queue.postpone(&pod, step.now.elapsed) {
                continue;
            }
            if !self.ask_extenders(&pod, step) && self.attempt(&pod, step) != AttemptResult::Scheduled {
                left = left.saturating_sub(UNSCHEDULABLE_COST - 1);
            }
        }
        for ((queue, reason), count) in self.queue.take_moves() {
            step.notes.push(Note::Queued { queue, event: reason.to_string(), count });
        }
    }

    fn attempt(&mut self, pod: &Pod, step: &mut Step<'_>) -> AttemptResult {
        let Some(registry) = self.profiles.get(&pod.spec.scheduler_name) else { return AttemptResult::Error };
        let decision = cycle::schedule(pod, &step.cluster.snapshot(step.now.wall), registry);
        self.conclude(pod, decision, step)
    }

    /// Turns a decision into effects.
    fn conclude(&mut self, pod: &Pod, decision: Decision, step: &mut Step<'_>) -> AttemptResult {
        let result = match decision {
            Decision::Place { node, claims } => self.place(pod, node, claims, step),
            Decision::NoFit(no_fit) => {
                if !self.ask_about_victims(pod, &no_fit, step) {
                    self.conclude_no_fit(pod, &no_fit, step);
                }
                return AttemptResult::Unschedulable;
            }
            Decision::WaitForNode(wait) => self.wait_for_reserved_node(pod, &wait, step),
            Decision::Refused(refusal) => self.refuse(pod, &refusal, step),
            Decision::Failed(why) => {
                self.queue.retry(&pod.key, step.now.elapsed);
                self.report_failure(pod, SCHEDULER_ERROR, why.to_string(), Nomination::Change(None), step);
                AttemptResult::Error
            }
        };
        step.notes.push(Note::Attempt { profile: pod.spec.scheduler_name.clone(), result });
        result
    }

    fn conclude_no_fit(&mut self, pod: &Pod, no_fit: &NoFit, step: &mut Step<'_>) {
        let result = self.no_fit(pod, no_fit, step);
        step.notes.push(Note::Attempt { profile: pod.spec.scheduler_name.clone(), result });
    }

    /// No node fits. Preemption may help.
    fn no_fit(&mut self, pod: &Pod, no_fit: &NoFit, step: &mut Step<'_>) -> AttemptResult {
        self.mark_unschedulable(pod, no_fit, step);
        self.unschedulable_pods.insert(pod, no_fit.diagnosis.plugins());
        let nomination = match &no_fit.post_filter.nominated {
            Some(victims) => Nomination::Change(Some(victims.node.clone())),
            None if no_fit.post_filter.clears_nomination || no_fit.diagnosis.nodes.is_empty() => {
                Nomination::Change(None)
            }
            None => Nomination::Keep,
        };
        self.report_failure(pod, UNSCHEDULABLE, no_fit.message(), nomination, step);
        if let Some(victims) = &no_fit.post_filter.nominated {
            self.preempt(pod, victims, step);
        }
        AttemptResult::Unschedulable
    }

    /// Puts the pod aside until a change may help. If no plugin refused it, there are no nodes.
    fn mark_unschedulable(&mut self, pod: &Pod, no_fit: &NoFit, step: &mut Step<'_>) {
        let mut refused_by = no_fit.diagnosis.plugins();
        if refused_by.is_empty() {
            refused_by.insert(ANY_CHANGE);
        }
        self.put_aside(pod, refused_by, Duration::MAX, step);
    }

    /// The pod waits for the node that is kept for it. The condition has its own reason, so that the cluster autoscaler does not
    /// add nodes, which would not help.
    fn wait_for_reserved_node(&mut self, pod: &Pod, wait: &NodeWait, step: &mut Step<'_>) -> AttemptResult {
        let left = wait.until.map(|until| until.duration_since(step.now.wall));
        let at_most = left.map_or(Duration::MAX, |left| Duration::try_from(left).unwrap_or_default());
        self.put_aside(pod, [ANY_CHANGE].into(), at_most, step);
        self.report_failure(pod, WAITING_FOR_RESERVED_NODE, wait.to_string(), Nomination::Keep, step);
        AttemptResult::Unschedulable
    }

    /// The pod is not tried at all: it is gated, or it asks for something that this scheduler does not support. Only a change of
    /// the pod can help. For gates the API server has already written the condition.
    fn refuse(&mut self, pod: &Pod, refusal: &Refusal, step: &mut Step<'_>) -> AttemptResult {
        if let Refusal::Gated(rejections) = refusal {
            let refused_by: RefusedBy = rejections.iter().map(|rejection| rejection.plugin).collect();
            self.unschedulable_pods.insert(pod, refused_by.clone());
            if let Some(known) = step.cluster.pod(&pod.key) {
                self.queue.gate(known, refused_by, step.now.elapsed);
            }
        } else {
            self.put_aside(pod, RefusedBy::new(), Duration::MAX, step);
            self.report_failure(pod, UNSCHEDULABLE, refusal.to_string(), Nomination::Keep, step);
        }
        AttemptResult::Unschedulable
    }
}
