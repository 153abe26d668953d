//! What wakes waiting pods up: changes of the cluster, and what the scheduler itself does. The plugins that refused a pod say whether
//! a change may help it.

use super::Scheduler;
use crate::queue::{Hints, RefusedBy};
use crate::state::Step;
use common::cluster::{ActionType, Change, ClusterChange, ClusterEvent, EventResource, Snapshot};
use common::framework::Registry;
use common::model::ids::Text;
use common::model::{Pod, PodKey};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The hints of the plugins of each profile, about the belief as it is now.
struct ProfileHints<'s> {
    profiles: &'s BTreeMap<Text, Registry>,
    world: Snapshot<'s>,
}

impl Hints for ProfileHints<'_> {
    fn is_event_of_interest(&self, scheduler: &Text, refused_by: &RefusedBy, event: ClusterEvent) -> bool {
        let registry = self.profiles.get(scheduler);
        registry.is_none_or(|registry| registry.is_event_of_interest(event, refused_by))
    }

    fn is_worth_requeuing(&self, pod: &Pod, refused_by: &RefusedBy, change: &ClusterChange) -> bool {
        let registry = self.profiles.get(&pod.spec.scheduler_name);
        registry.is_none_or(|registry| registry.is_worth_requeuing(pod, refused_by, change, &self.world))
    }
}

impl Scheduler {
    /// Learns what an event altered.
    pub(crate) fn changed(&mut self, changes: &[Change], step: &mut Step<'_>) {
        let mut updated: BTreeSet<&PodKey> = BTreeSet::new();
        for change in changes {
            match change {
                Change::Cluster(change) => {
                    self.wake(change, step);
                    let key = change.pod_key().filter(|_| change.event.resource == EventResource::TargetPod);
                    updated.extend(key);
                }
                Change::PodWaiting(key) => self.enqueue(key, updated.contains(key), step),
                Change::PodNotWaiting(key) => self.settled(key, step),
                Change::OwnersChanged => self.wake_by(EventResource::WildCard, step),
                // The change of the node is another `Change`.
                Change::ReservationsChanged(_) | Change::ReplicasChanged => {}
                // Only the controller uses these.
                Change::OwnerChanged(_) | Change::KeepInvalid(..) => {}
            }
        }
        self.has_changes |= !changes.is_empty();
    }

    /// Wakes the pods up that the change may help.
    pub(super) fn wake(&mut self, change: &Arc<ClusterChange>, step: &mut Step<'_>) {
        let now = step.now.elapsed;
        let hints = ProfileHints { profiles: &self.profiles, world: step.cluster.snapshot(step.now.wall) };
        self.queue.wake(change, &hints, now);
        self.queue.wake_preemptors(&preemptors(change, &hints.world), change, now);
        if let (EventResource::TargetPod, (_, Some(pod))) = (change.event.resource, change.pods()) {
            self.queue.update(pod, change, &hints, now);
        }
    }

    /// Wakes pods up because of a change that no object shows.
    pub(super) fn wake_by(&mut self, resource: EventResource, step: &mut Step<'_>) {
        self.wake(&Arc::new(ClusterChange::of_any(resource, ActionType::UPDATE)), step);
    }

    /// Adds a pod to the queue, or tries it again because its owners changed. `is_told`: only it itself changed, and the queue knows.
    fn enqueue(&mut self, key: &PodKey, is_told: bool, step: &Step<'_>) {
        let Some(pod) = step.cluster.pod(key) else { return };
        let is_ours = self.profiles.contains_key(&pod.spec.scheduler_name) && !step.cluster.is_assumed(key);
        if is_ours && !(is_told && self.queue.contains(key)) {
            self.queue.push(key, pod.spec.priority, step.now.elapsed);
        }
    }

    /// Puts the pod aside until a change may help it, at most for this time.
    pub(super) fn put_aside(
        &mut self,
        pod: &Pod,
        refused_by: RefusedBy,
        at_most: std::time::Duration,
        step: &mut Step<'_>,
    ) {
        let Some(known) = step.cluster.pod(&pod.key).cloned() else { return };
        let hints = ProfileHints { profiles: &self.profiles, world: step.cluster.snapshot(step.now.wall) };
        self.queue.add_unschedulable_for(&known, refused_by, at_most, &hints, step.now.elapsed);
    }
}

/// The pods that are nominated to the node that a pod has left. A plugin may know that this room is not enough for them, but only an
/// attempt takes a nomination back, and until then it keeps the room from others.
fn preemptors(change: &ClusterChange, world: &Snapshot<'_>) -> Vec<PodKey> {
    let has_left = change.event.resource == EventResource::AssignedPod && change.pods().1.is_none();
    let node = change.node_name().filter(|_| has_left).and_then(|name| world.find(name));
    node.map_or(&[][..], |id| world.nominated(id)).iter().map(|pod| pod.key.clone()).collect()
}
