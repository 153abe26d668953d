//! The verb `bind`: bindings for kube-scheduler, with the pod's UID and the seat that the pod takes, as our own scheduler writes
//! them.

use super::{ExtenderLogic, Reply, fit, reply};
use crate::state::{BindingOutcome, Effect, Step};
use common::api::extender::ExtenderBindingArgs;
use common::cluster::{Assumption, Change};
use common::model::{Pod, PodKey, ReservationId, Uid};
use std::sync::Arc;

impl ExtenderLogic {
    /// Binds a pod, or replies why it must not be bound.
    pub(super) fn bind(
        &mut self,
        id: u64,
        request: &ExtenderBindingArgs,
        is_leading: bool,
        step: &mut Step<'_>,
    ) {
        if !is_leading {
            return reply(id, Reply::Unavailable("another replica leads, and only that one binds"), step);
        }
        let known = step.cluster.pod(&request.pod).filter(|pod| pod.uid == request.uid).cloned();
        if let Some(why) = known.as_deref().and_then(|pod| self.rejection(pod)) {
            return reply(id, Reply::Bound(Err(why.to_owned())), step);
        }
        let error = match known.as_deref() {
            None => Some("the pod is not known, or gone".to_owned()),
            Some(pod) if pod.node.as_ref() == Some(&request.node) => {
                return reply(id, Reply::Bound(Ok(())), step);
            }
            Some(pod) if pod.node.is_some() || step.cluster.is_assumed(&pod.key) => {
                Some("the pod has a node already".to_owned())
            }
            Some(_) => None,
        };
        let checked = match (error, known) {
            (None, Some(pod)) => self.seat(&pod, request, step),
            (error, _) => Err(error.unwrap_or_default()),
        };
        match checked {
            Err(why) => reply(id, Reply::Bound(Err(why)), step),
            Ok(seat) => {
                let ExtenderBindingArgs { pod, uid, node } = request.clone();
                let since = step.now.wall;
                let assumed =
                    Assumption { uid: uid.clone(), node: node.clone(), claims: seat.clone().into(), since };
                step.cluster.assume(&pod, assumed);
                self.passed_pods.remove(&pod);
                self.bindings.insert((pod.clone(), uid.clone()), id);
                step.effects.push(Effect::Bind { pod, uid, node, seat });
            }
        }
    }

    /// Why the pod must not be bound on any node. A scheduler that leaves bindings to this daemon asks it `filter` first; pods of
    /// other schedulers are not bound.
    fn rejection(&self, pod: &Pod) -> Option<&'static str> {
        let name = &pod.spec.scheduler_name;
        if self.own.contains(name) {
            Some("this daemon places the pod itself")
        } else if self.schedulers.contains_key(name) {
            None
        } else {
            Some("the scheduler of the pod has not asked this replica lately which nodes its pods may have")
        }
    }

    /// The seat that the pod takes on the node, if any; an error if the pod does not fit.
    fn seat(
        &self,
        pod: &Arc<Pod>,
        request: &ExtenderBindingArgs,
        step: &mut Step<'_>,
    ) -> Result<Option<ReservationId>, String> {
        let world = step.cluster.snapshot(step.now.wall);
        let context = world.context(pod);
        let Some(ledger) = world.find(&request.node).and_then(|id| world.ledger(id)) else {
            return Err("the node is not known, or gone".to_owned());
        };
        if fit::has_reservations(ledger)
            && let Some(why) = fit::refusal(
                &context,
                ledger.id,
                &self.passed_pods.suppose(&world, ledger, &pod.uid),
                &self.reservations,
            )
        {
            return Err(why);
        }
        Ok(ledger.room_for(&context).own.filter(|own| own.seat.is_some()).cloned())
    }

    /// Handles the outcome of a binding and returns the changes; `None` if the binding was not for kube-scheduler.
    pub(crate) fn binding_answered(
        &mut self,
        key: &PodKey,
        uid: &Uid,
        outcome: &BindingOutcome,
        step: &mut Step<'_>,
    ) -> Option<Vec<Change>> {
        let binding = (key.clone(), uid.clone());
        let id = *self.bindings.get(&binding)?;
        let answer = match outcome {
            BindingOutcome::Bound => Ok(()),
            BindingOutcome::Refused { why } => Err(why.clone()),
            BindingOutcome::Lost => Err("the pod is gone, or somebody else bound it".to_owned()),
            BindingOutcome::Unknown => {
                let node = step.cluster.assumed_node(key, uid).cloned();
                let node = node.or_else(|| step.cluster.pod(key).and_then(|pod| pod.node.clone()))?;
                step.effects.push(Effect::Find { pod: key.clone(), uid: uid.clone(), node });
                return Some(Vec::new());
            }
        };
        self.bindings.remove(&binding);
        let changes = if answer.is_err() { step.cluster.forget(key, uid) } else { Vec::new() };
        reply(id, Reply::Bound(answer), step);
        Some(changes)
    }
}
