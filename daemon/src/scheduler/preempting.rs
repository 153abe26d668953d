//! Making room for a pod: those that have to go are told and deleted, all but one at once, and then that one. Until its
//! deletion has begun, the pod that they go for is not looked at again: it would make others go.

use super::Scheduler;
use super::pending_bindings::{PendingBinding, Stage};
use crate::state::{Effect, Evicted, Eviction, Nomination, Note, PodEvent, Step};
use common::framework::Victims;
use common::model::{NodeName, Pod, PodKey, Uid};
use common::plugins::volume_binding::failed;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// A pod that others are being deleted for.
pub(super) struct Preemption {
    uid: Uid,
    node: NodeName,
    /// When it was decided.
    since: Duration,
    /// Those whose deletion was asked for, and not answered yet.
    under_way: BTreeSet<Uid>,
    last: Last,
    /// Whether one of them could not be deleted.
    is_failed: bool,
    /// Whether the pod has to be looked at when it is over, since nothing else will bring it back.
    is_awaited: bool,
}

/// The one that goes last.
enum Last {
    /// It waits until the others are on their way.
    Waits(Arc<Pod>),
    /// Its deletion was asked for.
    Asked(PodKey, Uid),
}

impl Scheduler {
    /// Makes room for `pod`: those of `victims` that are not on their way out already have to go.
    pub(super) fn preempt(&mut self, pod: &Pod, victims: &Victims, step: &mut Step<'_>) {
        let (count, violations) = (victims.pods.len(), victims.violations);
        step.notes.push(Note::Preemption { victims: count, violations });
        self.clear_nominations(pod, &victims.node, step);
        let mut staying: Vec<&Arc<Pod>> = victims.pods.iter().filter(|victim| !victim.deleting).collect();
        let Some(last) = staying.pop() else { return };
        let mut preemption = Preemption {
            uid: pod.uid.clone(),
            node: victims.node.clone(),
            since: step.now.elapsed,
            under_way: BTreeSet::new(),
            last: Last::Waits(Arc::clone(last)),
            is_failed: false,
            is_awaited: false,
        };
        for victim in staying {
            self.evict(pod, victim, &mut preemption, step);
        }
        self.proceed(pod, preemption, step);
    }

    /// Pods that are less important, and for which room was made there before, have to look elsewhere.
    fn clear_nominations(&mut self, pod: &Pod, node: &NodeName, step: &mut Step<'_>) {
        let world = step.cluster.snapshot(step.now.wall);
        let nominated = world.find(node).map(|id| world.nominated(id)).unwrap_or_default();
        let lower = nominated.iter().filter(|other| other.spec.priority < pod.spec.priority);
        let lower: Vec<Arc<Pod>> = lower.cloned().collect();
        for other in lower {
            self.nominate_only(&other, Nomination::Change(None), step);
        }
    }

    /// Lets one pod go.
    fn evict(&mut self, pod: &Pod, victim: &Arc<Pod>, preemption: &mut Preemption, step: &mut Step<'_>) {
        let is_same = |pending: &PendingBinding| pending.pod.uid == victim.uid;
        if self.pending_bindings.get(&victim.key).is_some_and(is_same) {
            self.evict_from_memory(pod, victim, &preemption.node, step);
            preemption.is_awaited = true;
            return;
        }
        preemption.under_way.insert(victim.uid.clone());
        step.effects.push(Effect::Evict(Box::new(Eviction {
            victim: victim.key.clone(),
            victim_uid: victim.uid.clone(),
            generation: victim.generation,
            since: step.now.wall,
            preemptor: pod.key.clone(),
            preemptor_uid: pod.uid.clone(),
            scheduler_name: pod.spec.scheduler_name.clone(),
            node: preemption.node.clone(),
        })));
    }

    /// A pod that is not bound yet need not be deleted: it loses its place, and looks for another.
    fn evict_from_memory(&mut self, pod: &Pod, victim: &Pod, node: &NodeName, step: &mut Step<'_>) {
        let Some(pending) = self.pending_bindings.remove(&victim.key) else { return };
        let why = match &pending.stage {
            Stage::Placed | Stage::Waiting { .. } => "waiting on permit for pod: preempted".to_owned(),
            Stage::Volumes { .. } => failed("preempted by DefaultPreemption"),
        };
        self.fail(&pending, why, step);
        let (key, uid, scheduler_name) = (&victim.key, &victim.uid, &pod.spec.scheduler_name);
        step.effects.push(Effect::WritePodEvent {
            pod: key.clone(),
            uid: uid.clone(),
            scheduler_name: scheduler_name.clone(),
            event: event(&pod.key, &pod.uid, node, true),
            at: step.now.wall,
        });
    }

    /// Lets the last one go if the others are on their way, and ends when that one is.
    fn proceed(&mut self, pod: &Pod, mut preemption: Preemption, step: &mut Step<'_>) {
        if preemption.under_way.is_empty()
            && !preemption.is_failed
            && let Last::Waits(last) = &preemption.last
        {
            let last = Arc::clone(last);
            preemption.last = Last::Asked(last.key.clone(), last.uid.clone());
            self.evict(pod, &last, &mut preemption, step);
        }
        if !preemption.under_way.is_empty() {
            self.preemptions.insert(pod.key.clone(), preemption);
            return;
        }
        let took = step.now.elapsed.saturating_sub(preemption.since);
        step.notes.push(Note::Preempted { is_done: !preemption.is_failed, took });
        // At once it would only be refused again, as by a policy or the fence, and be repeated without a pause.
        if preemption.is_failed && !self.queue.is_in_flight(&pod.key) {
            self.queue.retry(&pod.key, step.now.elapsed);
        } else if preemption.is_failed || preemption.is_awaited {
            self.queue.activate(&pod.key);
        }
    }

    /// Learns what has become of a pod that had to go. What went before stays gone, also when another could not be made
    /// to go; then the pod is looked at again, after a pause.
    pub(crate) fn evicted(&mut self, eviction: &Eviction, outcome: &Evicted, step: &mut Step<'_>) {
        if *outcome == Evicted::Begun {
            let scheduler_name = eviction.scheduler_name.clone();
            let (pod, uid) = (eviction.victim.clone(), eviction.victim_uid.clone());
            let event = event(&eviction.preemptor, &eviction.preemptor_uid, &eviction.node, false);
            step.effects.push(Effect::WritePodEvent { pod, uid, scheduler_name, event, at: step.now.wall });
        }
        let Some(mut preemption) = self.preemptions.remove(&eviction.preemptor) else { return };
        if preemption.uid != eviction.preemptor_uid {
            self.preemptions.insert(eviction.preemptor.clone(), preemption);
            return;
        }
        preemption.under_way.remove(&eviction.victim_uid);
        preemption.is_failed |= matches!(outcome, Evicted::Failed { .. });
        let pod = step.cluster.pod(&eviction.preemptor).filter(|pod| pod.uid == preemption.uid).cloned();
        // If it is gone or was placed meanwhile, nobody else has to go.
        if let Some(pod) = pod.filter(|pod| pod.is_waiting()) {
            self.proceed(&pod, preemption, step);
        }
    }

    /// Whether others are being deleted for the pod, so that it is not to be looked at. It is once the last of them is
    /// seen to leave, also before that is answered.
    pub(super) fn is_preempting(&mut self, pod: &Pod, step: &Step<'_>) -> bool {
        let Some(preemption) = self.preemptions.get_mut(&pod.key).filter(|one| one.uid == pod.uid) else {
            return false;
        };
        let is_leaving = match &preemption.last {
            Last::Waits(_) => false,
            Last::Asked(key, uid) => {
                let victim = step.cluster.pod(key).filter(|victim| victim.uid == *uid);
                victim.is_none_or(|victim| victim.deleting)
            }
        };
        preemption.is_awaited |= !is_leaving;
        !is_leaving
    }
}

fn event(by: &PodKey, by_uid: &Uid, node: &NodeName, in_memory: bool) -> PodEvent {
    PodEvent::Preempted { by: by.clone(), by_uid: by_uid.clone(), node: node.clone(), in_memory }
}
