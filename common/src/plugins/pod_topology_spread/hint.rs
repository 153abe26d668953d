//! Which changes can make the spread of a pod even enough.

use super::PodTopologySpread;
use super::constraint::{Constraint, WhenUnsatisfiable};
use crate::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource, Snapshot};
use crate::framework::{EnqueueExtensions, QueueingHint};
use crate::model::selector::selects;
use crate::model::{CatalogKind, Labels, Node, Pod};

impl EnqueueExtensions for PodTopologySpread {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const POD: ActionType = ActionType::ADD.or(ActionType::DELETE).or(ActionType::UPDATE_POD_LABEL);
        const OWN: ActionType = ActionType::UPDATE_POD_TOLERATION.or(ActionType::UPDATE_POD_LABEL);
        const NODE: ActionType = ActionType::ADD
            .or(ActionType::DELETE)
            .or(ActionType::UPDATE_NODE_LABEL)
            .or(ActionType::UPDATE_NODE_TAINT);
        const {
            &[
                ClusterEvent::new(EventResource::AssignedPod, POD),
                ClusterEvent::new(EventResource::TargetPod, OWN),
                ClusterEvent::new(EventResource::Node, NODE),
                // Default constraints select what the services of the pod select.
                ClusterEvent::catalog(CatalogKind::Service, ActionType::ALL),
            ]
        }
    }

    fn hint(&self, pod: &Pod, change: &ClusterChange, world: &Snapshot<'_>) -> QueueingHint {
        let when = WhenUnsatisfiable::DoNotSchedule;
        let constraints = self.defaults.constraints(&world.context(pod), world, when);
        QueueingHint::queue_if(match change.event.resource {
            EventResource::AssignedPod => {
                let is_near = change.pod_key().is_some_and(|other| other.namespace == pod.key.namespace);
                is_near && counts_otherwise(change, &constraints)
            }
            EventResource::TargetPod => {
                let honours_taints = constraints.iter().any(|constraint| constraint.honours_taints);
                let is_tolerant = change.event.actions.intersects(ActionType::UPDATE_POD_TOLERATION);
                honours_taints && is_tolerant || counts_otherwise(change, &constraints)
            }
            EventResource::Node => is_other_domain(change.nodes(), &constraints),
            _ => pod.spec.spread.is_empty(),
        })
    }
}

/// Whether a constraint counts the pod, and did not before, or the other way round.
fn counts_otherwise(change: &ClusterChange, constraints: &[Constraint]) -> bool {
    let (old, new) = change.pods();
    let counts = |constraint: &Constraint, pod: Option<&std::sync::Arc<Pod>>| {
        pod.is_some_and(|pod| selects(constraint.selector.as_ref(), &pod.labels))
    };
    constraints.iter().any(|constraint| counts(constraint, old) != counts(constraint, new))
}

/// Whether the node counts for the constraints otherwise than before: it came or went, or is in another domain, or has other taints.
fn is_other_domain((old, new): (Option<&Node>, Option<&Node>), constraints: &[Constraint]) -> bool {
    let has_keys = |node: &Node| constraints.iter().all(|constraint| node.labels.has(&constraint.key));
    let value = |labels: &Labels, constraint: &Constraint| labels.get(&constraint.key).map(str::to_owned);
    match (old, new) {
        (Some(old), Some(new)) if has_keys(old) && has_keys(new) => {
            let is_moved = |one: &Constraint| value(&old.labels, one) != value(&new.labels, one);
            constraints.iter().any(is_moved) || old.taints != new.taints
        }
        (Some(old), Some(new)) => has_keys(old) != has_keys(new),
        (old, new) => old.or(new).is_none_or(has_keys),
    }
}
