//! The pods behind a refusal: who is too near, and who is missing.

use super::mentioned::face;
use super::term::Meant;
use crate::cluster::{Ledger, NodeId, Snapshot};
use crate::model::ids::{NodeName, PodKey, Text};
use crate::model::selector::Selector;
use crate::model::{Labels, Pod};

/// What the pod, or another one, requires of who is near, and is not so on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// The pod must be near pods of this kind, and there is none in the node's domain.
    Missing {
        /// The node label that says what is near.
        key: Text,
        /// Which pods; `None` means none.
        selector: Option<Selector>,
    },
    /// The pod must not be near this one.
    Avoided {
        /// The node label that says what is near.
        key: Text,
        /// The other pod.
        pod: PodKey,
        /// Where it is.
        node: NodeName,
    },
    /// This one must not have the pod near.
    Avoids {
        /// The node label that says what is near.
        key: Text,
        /// The other pod.
        pod: PodKey,
        /// Where it is.
        node: NodeName,
    },
}

/// Who is too near to the node at `id` for the pod to come, or who is missing there; of each term the first. Looks at all
/// pods, so it is for the few nodes that are shown.
pub fn neighbours(pod: &Pod, world: &Snapshot<'_>, id: NodeId) -> Vec<Neighbour> {
    let Some(labels) = world.ledger(id).map(|ledger| &ledger.node.labels) else { return Vec::new() };
    let mut found = Vec::new();
    if let Some(affinity) = pod.spec.affinity.as_deref() {
        let meant: Vec<Meant> =
            affinity.pod.required.iter().map(|term| Meant::new(pod, term, world)).collect();
        let is_all = |other: &Pod| meant.iter().all(|meant| meant.matches(other));
        for term in &affinity.pod.required {
            if near(world, labels, &term.topology_key).flat_map(|one| &one.pods).all(|other| !is_all(other)) {
                let (key, selector) = (term.topology_key.clone(), term.selector.clone());
                found.push(Neighbour::Missing { key, selector });
            }
        }
        for term in &affinity.anti.required {
            let meant = Meant::new(pod, term, world);
            let is_meant = |other: &Pod| meant.matches(other);
            if let Some((pod, node)) = first(world, labels, &term.topology_key, is_meant) {
                found.push(Neighbour::Avoided { key: term.topology_key.clone(), pod, node });
            }
        }
    }
    found.extend(avoiding(pod, world, labels));
    found
}

/// The first pod that requires not to have this one near.
fn avoiding(pod: &Pod, world: &Snapshot<'_>, labels: &Labels) -> Option<Neighbour> {
    if world.pod_affinity().repelling == 0 {
        return None;
    }
    let face = face(pod, world);
    for ledger in world.nodes().filter(|ledger| ledger.pod_affinity.repelling > 0) {
        for other in &ledger.pods {
            let Some(affinity) = other.spec.affinity.as_deref() else { continue };
            let minds = affinity.anti.required.iter().find(|term| {
                let own = labels.get(&term.topology_key);
                own.is_some()
                    && own == ledger.node.labels.get(&term.topology_key)
                    && face.is_meant(other, term)
            });
            if let Some(term) = minds {
                return Some(Neighbour::Avoids {
                    key: term.topology_key.clone(),
                    pod: other.key.clone(),
                    node: ledger.node.name.clone(),
                });
            }
        }
    }
    None
}

/// The nodes in the same domain.
fn near<'w>(world: &'w Snapshot<'_>, labels: &'w Labels, key: &'w str) -> impl Iterator<Item = &'w Ledger> {
    let own = labels.get(key);
    world.nodes().filter(move |ledger| own.is_some() && ledger.node.labels.get(key) == own)
}

fn first(
    world: &Snapshot<'_>,
    labels: &Labels,
    key: &str,
    is_meant: impl Fn(&Pod) -> bool,
) -> Option<(PodKey, NodeName)> {
    near(world, labels, key).find_map(|ledger| {
        let other = ledger.pods.iter().find(|other| is_meant(other))?;
        Some((other.key.clone(), ledger.node.name.clone()))
    })
}
