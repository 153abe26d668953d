//! A second, simple implementation of InterPodAffinity, for comparison: every answer reads every pod.

use crate::cluster::{Ledger, Snapshot};
use crate::config::InterPodAffinityArgs;
use crate::model::affinity::{Affinity, PodAffinityTerm};
use crate::model::labels::Labels;
use crate::model::selector::selects;
use crate::model::{Node, Pod};
use std::collections::BTreeMap;

/// A label and its value.
type Pair = (String, String);

fn affinity(pod: &Pod) -> Affinity {
    pod.spec.affinity.as_deref().cloned().unwrap_or_default()
}

fn namespace_labels(world: &Snapshot<'_>, namespace: &str) -> Labels {
    let found = world.catalog().namespaces.iter().find(|one| *one.meta.name == *namespace);
    found.map(|one| one.labels.clone()).unwrap_or_default()
}

/// Whether the term of the incoming pod matches `other`. A namespace selector that is not empty finds only namespaces in the
/// catalog.
fn matches(pod: &Pod, term: &PodAffinityTerm, other: &Pod, world: &Snapshot<'_>) -> bool {
    let namespace = &other.key.namespace;
    let is_known = world.catalog().namespaces.iter().any(|one| one.meta.name == *namespace);
    let is_there = match &term.namespace_selector {
        None if term.namespaces.is_empty() => *namespace == pod.key.namespace,
        None => term.namespaces.contains(namespace),
        Some(selector) if selector.is_empty() => true,
        Some(selector) => {
            term.namespaces.contains(namespace)
                || (is_known && selector.matches(&namespace_labels(world, namespace)))
        }
    };
    is_there && selects(term.selector.as_ref(), &other.labels)
}

/// Whether the term of an existing pod matches the incoming pod.
fn is_matched(owner: &Pod, term: &PodAffinityTerm, pod: &Pod, world: &Snapshot<'_>) -> bool {
    let namespace = &pod.key.namespace;
    let labels = namespace_labels(world, namespace);
    let by_name = match term.namespaces.is_empty() && term.namespace_selector.is_none() {
        true => owner.key.namespace == *namespace,
        false => term.namespaces.contains(namespace),
    };
    (by_name || selects(term.namespace_selector.as_ref(), &labels))
        && selects(term.selector.as_ref(), &pod.labels)
}

fn pair(node: &Node, term: &PodAffinityTerm) -> Option<Pair> {
    let value = node.labels.get(&term.topology_key)?;
    Some((term.topology_key.to_string(), value.to_owned()))
}

fn add(counts: &mut BTreeMap<Pair, i64>, pair: Option<Pair>, by: i64) {
    if let Some(pair) = pair {
        *counts.entry(pair).or_default() += by;
    }
}

/// The verdict of the filter on each node.
pub(super) fn verdicts(pod: &Pod, world: &Snapshot<'_>) -> Option<Vec<Option<(String, bool)>>> {
    let own = affinity(pod);
    let (near, apart) = (own.pod.required, own.anti.required);
    let mut near_counts = BTreeMap::new();
    let mut apart_counts = BTreeMap::new();
    let mut repelling = BTreeMap::new();
    for ledger in world.nodes() {
        for other in &ledger.pods {
            if !near.is_empty() && near.iter().all(|term| matches(pod, term, other, world)) {
                near.iter().for_each(|term| add(&mut near_counts, pair(&ledger.node, term), 1));
            }
            for term in apart.iter().filter(|term| matches(pod, term, other, world)) {
                add(&mut apart_counts, pair(&ledger.node, term), 1);
            }
            for term in
                affinity(other).anti.required.iter().filter(|term| is_matched(other, term, pod, world))
            {
                add(&mut repelling, pair(&ledger.node, term), 1);
            }
        }
    }
    if near.is_empty() && apart.is_empty() && repelling.is_empty() {
        return None;
    }
    let is_first_of_group = near_counts.is_empty() && near.iter().all(|term| matches(pod, term, pod, world));
    let judge = |ledger: &Ledger| {
        let pairs: Vec<Option<Pair>> = near.iter().map(|term| pair(&ledger.node, term)).collect();
        let has_labels = pairs.iter().all(Option::is_some);
        let has_pods = pairs.iter().flatten().all(|pair| near_counts.contains_key(pair));
        if !has_labels || !(has_pods || is_first_of_group) {
            return Some(("node(s) didn't match pod affinity rules".to_owned(), true));
        }
        let meets = |term: &PodAffinityTerm| {
            pair(&ledger.node, term).is_some_and(|pair| apart_counts.contains_key(&pair))
        };
        if apart.iter().any(meets) {
            return Some(("node(s) didn't match pod anti-affinity rules".to_owned(), false));
        }
        let mut labels = ledger.node.labels.iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
        if labels.any(|pair| repelling.contains_key(&pair)) {
            return Some(("node(s) didn't satisfy existing pods anti-affinity rules".to_owned(), false));
        }
        None
    };
    Some(world.nodes().map(judge).collect())
}

/// The raw scores of the feasible nodes.
pub(super) fn scores(
    pod: &Pod,
    world: &Snapshot<'_>,
    feasible: &[&Ledger],
    args: &InterPodAffinityArgs,
) -> Option<Vec<i64>> {
    let own = affinity(pod);
    let prefers = !own.pod.preferred.is_empty() || !own.anti.preferred.is_empty();
    if args.ignore_preferred_terms_of_existing_pods && !prefers {
        return None;
    }
    let mut sums = BTreeMap::new();
    for ledger in world.nodes() {
        for other in &ledger.pods {
            let mut add_weight = |term: &PodAffinityTerm, is_so: bool, weight: i32| {
                add(&mut sums, pair(&ledger.node, term).filter(|_| is_so), i64::from(weight));
            };
            let theirs = affinity(other);
            for (terms, sign) in [(&own.pod.preferred, 1), (&own.anti.preferred, -1)] {
                terms.iter().for_each(|(weight, term)| {
                    add_weight(term, matches(pod, term, other, world), sign * weight)
                });
            }
            for (terms, sign) in [(&theirs.pod.preferred, 1), (&theirs.anti.preferred, -1)] {
                terms.iter().for_each(|(weight, term)| {
                    add_weight(term, is_matched(other, term, pod, world), sign * weight)
                });
            }
            for term in theirs.pod.required.iter().filter(|_| args.hard_pod_affinity_weight > 0) {
                add_weight(term, is_matched(other, term, pod, world), args.hard_pod_affinity_weight);
            }
        }
    }
    let score = |ledger: &&Ledger| {
        let labels = ledger.node.labels.iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
        labels.filter_map(|pair| sums.get(&pair)).sum()
    };
    (!sums.is_empty()).then(|| feasible.iter().map(score).collect())
}
