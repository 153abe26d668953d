//! Preemption: deletes the victims of a pod, all but one at once, and then the last one. The preemptor is not tried again before
//! the deletion of the last one has begun: it would preempt more pods.

use super::Scheduler;
use super::pending_bindings::{BindingPhase, PendingBinding};
use crate::state::{Effect, Eviction, EvictionOutcome, Nomination, Note, PodEvent, Step};
use common::framework::NodeVictims;
use common::model::{NodeName, Pod, PodKey, Uid};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

pub(super) struct Preemption {
    uid: Uid,
    node: NodeName,
    since: Duration,
    /// The victims whose deletion was sent and not answered yet.
    pending: BTreeSet<Uid>,
    last: LastVictim,
    /// Whether a victim could not be deleted.
    is_failed: bool,
    /// Whether the preemptor has to be activated at the end, since nothing else will wake it up.
    needs_activation: bool,
}

enum LastVictim {
    /// The deletions of the others are not all answered.
    Waiting(Arc<Pod>),
    Deleting(PodKey, Uid),
}

impl Scheduler {
    /// Begins to delete those of `victims` that are not being deleted already.
    pub(super) fn preempt(&mut self, pod: &Pod, victims: &NodeVictims, step: &mut Step<'_>) {
        let (count, violations) = (victims.pods.len(), victims.violations);
        step.notes.push(Note::Preemption { victims: count, violations });
        self.clear_nominations(pod, &victims.node, step);
        let mut staying: Vec<&Arc<Pod>> = victims.pods.iter().filter(|victim| !victim.deleting).collect();
        let Some(last) = staying.pop() else { return };
        let mut preemption = Preemption {
            uid: pod.uid.clone(),
            node: victims.node.clone(),
            since: step.now.elapsed,
            pending: BTreeSet::new(),
            last: LastVictim::Waiting(Arc::clone(last)),
            is_failed: false,
            needs_activation: false,
        };
        for victim in staying {
            self.evict(pod, victim, &mut preemption, step);
        }
        self.proceed(pod, preemption, step);
    }

    /// Pods of lower priority that are nominated to the node lose their nomination.
    fn clear_nominations(&mut self, pod: &Pod, node: &NodeName, step: &mut Step<'_>) {
        let world = step.cluster.snapshot(step.now.wall);
        let nominated = world.find(node).map(|id| world.nominated(id)).unwrap_or_default();
        let lower = nominated.iter().filter(|other| other.spec.priority < pod.spec.priority);
        let lower: Vec<Arc<Pod>> = lower.cloned().collect();
        for other in lower {
            self.nominate_only(&other, Nomination::Change(None), step);
        }
    }

    fn evict(&mut self, pod: &Pod, victim: &Arc<Pod>, preemption: &mut Preemption, step: &mut Step<'_>) {
        let is_same = |pending: &PendingBinding| pending.pod.uid == victim.uid;
        if self.pending_bindings.get(&victim.key).is_some_and(is_same) {
            self.evict_from_memory(pod, victim, &preemption.node, step);
            preemption.needs_activation = true;
            return;
        }
        preemption.pending.insert(victim.uid.clone());
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

    /// A victim that is not bound yet is not deleted: it loses its node and is tried again.
    fn evict_from_memory(&mut self, pod: &Pod, victim: &Pod, node: &NodeName, step: &mut Step<'_>) {
        let Some(pending) = self.pending_bindings.remove(&victim.key) else { return };
        let why = match &pending.phase {
            BindingPhase::Assumed | BindingPhase::WaitingOnPermit { .. } => {
                "waiting on permit for pod: preempted".to_owned()
            }
            BindingPhase::Preparing { preparation, .. } => {
                preparation.error("preempted by DefaultPreemption")
            }
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

    /// Deletes the last victim when the deletions of the others have begun, and ends when that of the last one has.
    fn proceed(&mut self, pod: &Pod, mut preemption: Preemption, step: &mut Step<'_>) {
        if preemption.pending.is_empty()
            && !preemption.is_failed
            && let LastVictim::Waiting(last) = &preemption.last
        {
            let last = Arc::clone(last);
            preemption.last = LastVictim::Deleting(last.key.clone(), last.uid.clone());
            self.evict(pod, &last, &mut preemption, step);
        }
        if !preemption.pending.is_empty() {
            self.preemptions.insert(pod.key.clone(), preemption);
            return;
        }
        let took = step.now.elapsed.saturating_sub(preemption.since);
        step.notes.push(Note::VictimDeletion { is_done: !preemption.is_failed, took });
        // A retry at once would be refused again, by a policy or by the fence, and repeated without a pause.
        if preemption.is_failed && !self.queue.is_in_flight(&pod.key) {
            self.queue.retry(&pod.key, step.now.elapsed);
        } else if preemption.is_failed || preemption.needs_activation {
            self.queue.activate(&pod.key);
        }
    }

    /// Handles the outcome of one deletion. If a victim cannot be deleted, those that are gone stay gone, and the preemptor is
    /// tried again after a pause.
    pub(crate) fn eviction_answered(
        &mut self,
        eviction: &Eviction,
        outcome: &EvictionOutcome,
        step: &mut Step<'_>,
    ) {
        if *outcome == EvictionOutcome::Begun {
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
        preemption.pending.remove(&eviction.victim_uid);
        preemption.is_failed |= matches!(outcome, EvictionOutcome::Failed { .. });
        let pod = step.cluster.pod(&eviction.preemptor).filter(|pod| pod.uid == preemption.uid).cloned();
        // If the preemptor is gone or got a node meanwhile, no more victims are deleted.
        if let Some(pod) = pod.filter(|pod| pod.is_waiting()) {
            self.proceed(&pod, preemption, step);
        }
    }

    /// Whether victims are being deleted for the pod, so that it must not be tried. It may be tried as soon as the watch shows that
    /// the last victim is being deleted, even before the deletion is answered.
    pub(super) fn is_preempting(&mut self, pod: &Pod, step: &Step<'_>) -> bool {
        let Some(preemption) = self.preemptions.get_mut(&pod.key).filter(|one| one.uid == pod.uid) else {
            return false;
        };
        let is_leaving = match &preemption.last {
            LastVictim::Waiting(_) => false,
            LastVictim::Deleting(key, uid) => {
                let victim = step.cluster.pod(key).filter(|victim| victim.uid == *uid);
                victim.is_none_or(|victim| victim.deleting)
            }
        };
        preemption.needs_activation |= !is_leaving;
        !is_leaving
    }
}

fn event(by: &PodKey, by_uid: &Uid, node: &NodeName, in_memory: bool) -> PodEvent {
    PodEvent::Preempted { by: by.clone(), by_uid: by_uid.clone(), node: node.clone(), in_memory }
}
