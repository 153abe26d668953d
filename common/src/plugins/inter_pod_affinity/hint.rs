//! Which changes can bring a pod near the pods that it needs, or away from those that it must not be near.

use super::InterPodAffinity;
use super::label_keys::pod_attributes;
use super::term::TermMatcher;
use crate::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource, Snapshot};
use crate::framework::{EnqueueExtensions, QueueingHint};
use crate::model::affinity::PodAffinityTerm;
use crate::model::{CatalogKind, Node, Pod};

impl EnqueueExtensions for InterPodAffinity {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const POD: ActionType = ActionType::ADD.or(ActionType::DELETE).or(ActionType::UPDATE_POD_LABEL);
        const {
            &[
                ClusterEvent::new(EventResource::AssignedPod, POD),
                ClusterEvent::new(EventResource::TargetPod, ActionType::UPDATE_POD_LABEL),
                ClusterEvent::new(EventResource::Node, ActionType::ADD.or(ActionType::UPDATE_NODE_LABEL)),
                // Terms can select namespaces by their labels.
                ClusterEvent::catalog(CatalogKind::Namespace, ActionType::ALL),
            ]
        }
    }

    fn hint(&self, pod: &Pod, change: &ClusterChange, world: &Snapshot<'_>) -> QueueingHint {
        let (affinity, anti_affinity) = required_terms(pod);
        QueueingHint::queue_if(match change.event.resource {
            EventResource::AssignedPod => {
                let terms = OwnTerms {
                    affinity: affinity.iter().map(|term| TermMatcher::new(pod, term, world)).collect(),
                    anti_affinity: anti_affinity
                        .iter()
                        .map(|term| TermMatcher::new(pod, term, world))
                        .collect(),
                };
                match change.pods() {
                    (None, Some(new)) => terms.attracts(new),
                    (Some(old), Some(new)) => {
                        terms.attracts(new) && !terms.attracts(old) || terms.repels(old) && !terms.repels(new)
                    }
                    (Some(old), None) => terms.repels(old) || has_repelled(old, pod, world),
                    (None, None) => true,
                }
            }
            EventResource::Node => is_other_domain(change.nodes(), affinity, anti_affinity),
            _ => true,
        })
    }
}

/// The required terms of a pod.
struct OwnTerms {
    affinity: Vec<TermMatcher>,
    anti_affinity: Vec<TermMatcher>,
}

impl OwnTerms {
    /// Whether the pod is one that the affinity looks for: a single pod has to match all terms.
    fn attracts(&self, other: &Pod) -> bool {
        !self.affinity.is_empty() && self.affinity.iter().all(|term| term.matches(other))
    }

    fn repels(&self, other: &Pod) -> bool {
        self.anti_affinity.iter().any(|term| term.matches(other))
    }
}

fn required_terms(pod: &Pod) -> (&[PodAffinityTerm], &[PodAffinityTerm]) {
    let affinity = pod.spec.affinity.as_deref();
    affinity.map_or((&[], &[]), |affinity| (&affinity.pod.required, &affinity.anti.required))
}

/// Whether the anti-affinity of the pod that is gone kept `pod` away.
fn has_repelled(gone: &Pod, pod: &Pod, world: &Snapshot<'_>) -> bool {
    let (_, terms) = required_terms(gone);
    !terms.is_empty() && {
        let attributes = pod_attributes(pod, world);
        terms.iter().any(|term| attributes.is_matched_by(gone, term))
    }
}

/// Whether the node is new, or in another domain than before, so that the terms may be met there. A pod without terms was refused
/// because of the terms of other pods, which may have any topology key.
fn is_other_domain(
    (old, new): (Option<&Node>, Option<&Node>),
    affinity: &[PodAffinityTerm],
    anti_affinity: &[PodAffinityTerm],
) -> bool {
    let Some(new) = new else { return true };
    let value = |term: &PodAffinityTerm| new.labels.get(&term.topology_key);
    let was = |term: &PodAffinityTerm| old.and_then(|old| old.labels.get(&term.topology_key));
    affinity.is_empty() && anti_affinity.is_empty()
        || affinity.iter().any(|term| value(term).is_some() && value(term) != was(term))
        || anti_affinity.iter().any(|term| old.is_none() || was(term).is_some() && value(term) != was(term))
}
