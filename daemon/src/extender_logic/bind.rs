//! Bindings that kube-scheduler leaves to us: as our own, with the pod's UID and the seat that it takes.

use super::{ExtenderLogic, Reply, judge, reply};
use crate::state::{Binding, Effect, Step};
use common::api::extender::BindingQuestion;
use common::cluster::{Assumed, Change};
use common::model::{Pod, PodKey, ReservationId, Uid};
use std::sync::Arc;

impl ExtenderLogic {
    /// Binds a pod, unless something says that it must not be.
    pub(super) fn bind(&mut self, id: u64, wanted: &BindingQuestion, is_leading: bool, step: &mut Step<'_>) {
        if !is_leading {
            return reply(id, Reply::Unavailable("another replica leads, and only that one binds"), step);
        }
        let known = step.cluster.pod(&wanted.pod).filter(|pod| pod.uid == wanted.uid).cloned();
        if let Some(why) = known.as_deref().and_then(|pod| self.foreign(pod)) {
            return reply(id, Reply::Bound(Err(why.to_owned())), step);
        }
        let error = match known.as_deref() {
            None => Some("the pod is not known, or gone".to_owned()),
            Some(pod) if pod.node.as_ref() == Some(&wanted.node) => {
                return reply(id, Reply::Bound(Ok(())), step);
            }
            Some(pod) if pod.node.is_some() || step.cluster.is_assumed(&pod.key) => {
                Some("the pod has a node already".to_owned())
            }
            Some(_) => None,
        };
        let checked = match (error, known) {
            (None, Some(pod)) => self.seat(&pod, wanted, step),
            (error, _) => Err(error.unwrap_or_default()),
        };
        match checked {
            Err(why) => reply(id, Reply::Bound(Err(why)), step),
            Ok(seat) => {
                let BindingQuestion { pod, uid, node } = wanted.clone();
                let since = step.now.wall;
                let assumed = Assumed { uid: uid.clone(), node: node.clone(), seat: seat.clone(), since };
                step.cluster.assume(&pod, assumed);
                self.passed.remove(&pod);
                self.bindings.insert((pod.clone(), uid.clone()), id);
                step.effects.push(Effect::Bind { pod, uid, node, seat });
            }
        }
    }

    /// Why the pod is not to be bound here, whatever its node. A scheduler that leaves bindings to this daemon asks it first
    /// which nodes its pods may have. Pods of all other schedulers are not bound here.
    fn foreign(&self, pod: &Pod) -> Option<&'static str> {
        let name = &pod.spec.scheduler_name;
        if self.own.contains(name) {
            Some("this daemon places the pod itself")
        } else if self.asked.contains_key(name) {
            None
        } else {
            Some("the scheduler of the pod has not asked this replica lately which nodes its pods may have")
        }
    }

    /// The seat that the pod takes on its node; why it cannot go there, if it cannot.
    fn seat(
        &self,
        pod: &Arc<Pod>,
        wanted: &BindingQuestion,
        step: &mut Step<'_>,
    ) -> Result<Option<ReservationId>, String> {
        let world = step.cluster.snapshot(step.now.wall);
        let pod_context = world.pod_context(pod);
        let Some(ledger) = world.find(&wanted.node).and_then(|id| world.ledger(id)) else {
            return Err("the node is not known, or gone".to_owned());
        };
        if judge::is_concerned(ledger)
            && let Some(why) =
                judge::refusal(&pod_context, ledger.id, &self.passed.suppose(&world, ledger, &pod.uid))
        {
            return Err(why);
        }
        Ok(ledger.room_for(&pod_context).own.filter(|own| own.seat.is_some()).cloned())
    }

    /// Learns what has become of a binding, if it was asked for here; returns what that altered.
    pub(crate) fn binding(
        &mut self,
        key: &PodKey,
        uid: &Uid,
        outcome: &Binding,
        step: &mut Step<'_>,
    ) -> Option<Vec<Change>> {
        let asked = (key.clone(), uid.clone());
        let id = *self.bindings.get(&asked)?;
        let answer = match outcome {
            Binding::Bound => Ok(()),
            Binding::Refused { why } => Err(why.clone()),
            Binding::Lost => Err("the pod is gone, or somebody else bound it".to_owned()),
            Binding::Unknown => {
                let node = step.cluster.assumed_node(key, uid).cloned();
                let node = node.or_else(|| step.cluster.pod(key).and_then(|pod| pod.node.clone()))?;
                step.effects.push(Effect::Find { pod: key.clone(), uid: uid.clone(), node });
                return Some(Vec::new());
            }
        };
        self.bindings.remove(&asked);
        let changes = if answer.is_err() { step.cluster.forget(key, uid) } else { Vec::new() };
        reply(id, Reply::Bound(answer), step);
        Some(changes)
    }
}
