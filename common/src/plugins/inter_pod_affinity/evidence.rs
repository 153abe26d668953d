//! Details for `explain`: which affinity term a node does not meet, and because of which pod.

use super::label_keys::pod_attributes;
use super::term::TermMatcher;
use crate::cluster::{Ledger, Snapshot};
use crate::framework::UnmetPodAffinity;
use crate::model::{Labels, NodeName, Pod, PodKey};

/// The required terms that a node with these labels does not meet, each with the first pod that violates it. It reads all pods.
pub(super) fn unmet_pod_affinity(pod: &Pod, world: &Snapshot<'_>, labels: &Labels) -> Vec<UnmetPodAffinity> {
    let mut found = Vec::new();
    if let Some(affinity) = pod.spec.affinity.as_deref() {
        let matchers: Vec<TermMatcher> =
            affinity.pod.required.iter().map(|term| TermMatcher::new(pod, term, world)).collect();
        let matches_all = |other: &Pod| matchers.iter().all(|matcher| matcher.matches(other));
        for term in &affinity.pod.required {
            if same_domain(world, labels, &term.topology_key)
                .flat_map(|one| &one.pods)
                .all(|other| !matches_all(other))
            {
                let (key, selector) = (term.topology_key.clone(), term.selector.clone());
                found.push(UnmetPodAffinity::NoMatchingPod { key, selector });
            }
        }
        for term in &affinity.anti.required {
            let matcher = TermMatcher::new(pod, term, world);
            let is_match = |other: &Pod| matcher.matches(other);
            if let Some((pod, node)) = first_match(world, labels, &term.topology_key, is_match) {
                found.push(UnmetPodAffinity::AntiAffinity { key: term.topology_key.clone(), pod, node });
            }
        }
    }
    found.extend(existing_anti_affinity(pod, world, labels));
    found
}

/// The first existing pod in the domain whose required anti-affinity matches the pod.
fn existing_anti_affinity(pod: &Pod, world: &Snapshot<'_>, labels: &Labels) -> Option<UnmetPodAffinity> {
    if world.pod_affinity().repelling == 0 {
        return None;
    }
    let attributes = pod_attributes(pod, world);
    for ledger in world.nodes().filter(|ledger| ledger.pod_affinity.repelling > 0) {
        for other in &ledger.pods {
            let Some(affinity) = other.spec.affinity.as_deref() else { continue };
            let matching = affinity.anti.required.iter().find(|term| {
                let own = labels.get(&term.topology_key);
                own.is_some()
                    && own == ledger.node.labels.get(&term.topology_key)
                    && attributes.is_matched_by(other, term)
            });
            if let Some(term) = matching {
                return Some(UnmetPodAffinity::ExistingAntiAffinity {
                    key: term.topology_key.clone(),
                    pod: other.key.clone(),
                    node: ledger.node.name.clone(),
                });
            }
        }
    }
    None
}

fn same_domain<'w>(
    world: &'w Snapshot<'_>,
    labels: &'w Labels,
    key: &'w str,
) -> impl Iterator<Item = &'w Ledger> {
    let own = labels.get(key);
    world.nodes().filter(move |ledger| own.is_some() && ledger.node.labels.get(key) == own)
}

fn first_match(
    world: &Snapshot<'_>,
    labels: &Labels,
    key: &str,
    is_match: impl Fn(&Pod) -> bool,
) -> Option<(PodKey, NodeName)> {
    same_domain(world, labels, key).find_map(|ledger| {
        let other = ledger.pods.iter().find(|other| is_match(other))?;
        Some((other.key.clone(), ledger.node.name.clone()))
    })
}
