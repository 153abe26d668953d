//! From the node that was chosen for a pod to the binding, and what becomes of that.

use super::{SCHEDULER_ERROR, Scheduler, UNSCHEDULABLE, record};
use crate::state::{Attempted, Binding, Effect, PodEvent, Step};
use common::cluster::Assumed;
use common::cycle::{self, Clearance};
use common::framework::{Cure, Reserved};
use common::model::{NodeName, Pod, PodKey, ReservationId, Uid};
use std::collections::BTreeSet;
use std::time::Duration;

/// Anything that can happen.
const EVERY_CURE: [Cure; 6] = [Cure::Room, Cure::Node, Cure::Owner, Cure::Pods, Cure::Storage, Cure::Pod];

/// What a pod is told whose claims wait for their first pod.
const UNBOUND_CLAIMS: &str =
    "the pod's claims wait for their first pod, and this scheduler does not bind volumes yet";

impl Scheduler {
    /// Binds the pod, if the plugins let it. A plugin that wants it to wait gets no promise that the node stays free:
    /// the pod is put aside, says so, and is placed anew when something happens, at the latest when the time is over.
    pub(super) fn place(
        &mut self,
        pod: &Pod,
        node: NodeName,
        reserved: Reserved,
        step: &mut Step<'_>,
    ) -> Attempted {
        let (key, seat, elapsed) = (&pod.key, reserved.seat, step.now.elapsed);
        if !reserved.volumes.is_empty() {
            // Bound without them it would wait on its node for ever.
            self.queue.park(key, BTreeSet::from([Cure::Storage]), elapsed);
            self.tell(pod, UNSCHEDULABLE, UNBOUND_CLAIMS.to_owned(), step);
            return Attempted::Unschedulable;
        }
        match self.clearance(pod, &node, step) {
            Clearance::Granted => {
                let bind = self.bind(pod, node, seat, step);
                step.effects.push(bind);
                Attempted::Scheduled
            }
            Clearance::Denied(no_fit) => {
                let cures = no_fit.trace.cures().into_iter().chain([Cure::Node]).collect();
                self.queue.park(key, cures, elapsed);
                self.tell(pod, UNSCHEDULABLE, no_fit.message(), step);
                Attempted::Unschedulable
            }
            Clearance::Waits { plugin, at_most } => self.wait(pod, plugin, at_most, step),
            Clearance::Unready(no_fit) => {
                self.queue.retry(key, elapsed);
                self.tell(pod, UNSCHEDULABLE, no_fit.message(), step);
                Attempted::Unschedulable
            }
            Clearance::NobodyBinds => {
                self.queue.retry(key, elapsed);
                let why = "no plugin at bind takes care of the pod; DefaultBinder would".to_owned();
                self.tell(pod, SCHEDULER_ERROR, why, step);
                Attempted::Error
            }
        }
    }

    fn clearance(&self, pod: &Pod, node: &NodeName, step: &mut Step<'_>) -> Clearance {
        let Some(registry) = self.profiles.get(&pod.spec.scheduler_name) else { return Clearance::Granted };
        cycle::clear(pod, node, &step.cluster.snapshot(step.now.wall), registry)
    }

    fn wait(&mut self, pod: &Pod, plugin: &str, at_most: Duration, step: &mut Step<'_>) -> Attempted {
        self.queue.park_for(&pod.key, BTreeSet::from(EVERY_CURE), at_most, step.now.elapsed);
        let message =
            format!("0/1 nodes are available: 1 node(s) have to wait for plugin {plugin} to permit it.");
        self.tell(pod, UNSCHEDULABLE, message, step);
        Attempted::Unschedulable
    }

    fn bind(
        &mut self,
        pod: &Pod,
        node: NodeName,
        seat: Option<ReservationId>,
        step: &mut Step<'_>,
    ) -> Effect {
        let now = step.now;
        let (key, uid) = (pod.key.clone(), pod.uid.clone());
        let assumed = Assumed { uid: uid.clone(), node: node.clone(), seat: seat.clone(), since: now.wall };
        step.cluster.assume(&key, assumed);
        // Whoever wants to be near it, or is counted together with it, has waited for this.
        self.queue.wake(Cure::Pods, now.elapsed);
        if pod.nominated.is_some() {
            // It no longer needs the room that was made for it elsewhere.
            self.queue.wake(Cure::Room, now.elapsed);
        }
        Effect::Bind { pod: key, uid, node, seat }
    }

    /// Learns what has become of a binding.
    pub(crate) fn binding(&mut self, key: &PodKey, uid: &Uid, outcome: Binding, step: &mut Step<'_>) {
        let Some(node) = step.cluster.assumed_node(key, uid).cloned() else {
            // Seen bound, or gone, before the answer came. Its event is still due.
            if outcome == Binding::Bound {
                self.announce(key, uid, step);
            }
            return;
        };
        match outcome {
            Binding::Bound => {
                self.announce(key, uid, step);
                self.queue.remove(key);
            }
            Binding::Unknown => step.effects.push(Effect::Find { pod: key.clone(), uid: uid.clone(), node }),
            // The watch will say what has become of it.
            Binding::Lost => self.take_back(key, uid, &node, step),
            Binding::Refused { why } => {
                self.take_back(key, uid, &node, step);
                if let Some(pod) = step.cluster.pod(key).filter(|pod| pod.uid == *uid).cloned() {
                    self.tell(&pod, SCHEDULER_ERROR, format!("binding rejected: {why}"), step);
                }
            }
        }
    }

    fn take_back(&mut self, key: &PodKey, uid: &Uid, node: &NodeName, step: &mut Step<'_>) {
        if let Some(pod) = step.cluster.pod(key).filter(|pod| pod.uid == *uid).cloned()
            && let Some(registry) = self.profiles.get(&pod.spec.scheduler_name)
        {
            cycle::not_bound(&pod, node, &step.cluster.snapshot(step.now.wall), registry);
        }
        let changes = step.cluster.forget(key, uid);
        self.changed(&changes, step);
        self.queue.retry(key, step.now.elapsed);
    }

    fn announce(&self, key: &PodKey, uid: &Uid, step: &mut Step<'_>) {
        let Some(pod) = step.cluster.pod(key).filter(|pod| pod.uid == *uid).cloned() else { return };
        let Some(node) = step.cluster.assumed_node(key, uid).or(pod.node.as_ref()).cloned() else { return };
        if let Some(registry) = self.profiles.get(&pod.spec.scheduler_name) {
            cycle::bound(&pod, &node, &step.cluster.snapshot(step.now.wall), registry);
        }
        step.effects.push(record(&pod, PodEvent::Scheduled { node }, step.now));
    }
}
