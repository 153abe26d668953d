//! Groups nodes by pool or by zone; nodes that are not meant for the pod are one group. Entry point: [`groups`].

use super::group::{label, main_blockers};
use super::judge::{NodeDescriber, NodeResult};
use super::report::{Member, NodeGroup};
use super::words::count;
use common::cluster::Ledger;
use common::model::ResourceName;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The labels that name a node's pool in common clouds and tools.
const POOL_LABELS: [&str; 12] = [
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "karpenter.sh/nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "doks.digitalocean.com/node-pool",
    "node.cluster.x-k8s.io/nodepool",
    "nodepool",
    "node-pool",
    "pool",
    "workergroup",
    "nodegroup",
];

const ZONE: &str = "topology.kubernetes.io/zone";

/// The maximum number of pools that are named for nodes that are not meant for the pod.
const NAMED: usize = 3;

/// The pool of a node: from a label, or else its name without the number at the end.
pub(crate) fn pool_of(ledger: &Ledger) -> String {
    let labels = &ledger.node.labels;
    let named = POOL_LABELS.iter().find_map(|key| labels.get(key)).filter(|value| !value.is_empty());
    named.map_or_else(|| stem(ledger.node.name.as_str()), str::to_owned)
}

/// The zone of a node, from its label.
pub(crate) fn zone_of(ledger: &Ledger) -> String {
    ledger.node.labels.get(ZONE).unwrap_or("no zone").to_owned()
}

/// The name without the number at its end: `gpu-17` as `gpu-*`.
fn stem(name: &str) -> String {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if stem.is_empty() || stem == name { name.to_owned() } else { format!("{stem}*") }
}

/// The nodes grouped by `key`; nodes that are not meant for the pod are one group.
pub(super) fn groups(
    results: &[&NodeResult],
    describer: &NodeDescriber<'_>,
    key: &dyn Fn(&Ledger) -> String,
) -> Vec<NodeGroup> {
    let mut meant: BTreeMap<String, Vec<&NodeResult>> = BTreeMap::new();
    let mut others = Vec::new();
    for result in results {
        let Some(ledger) = describer.snapshot.ledger(result.id) else { continue };
        if result.is_right_kind() {
            meant.entry(key(ledger)).or_default().push(result);
        } else {
            others.push((key(ledger), *result));
        }
    }
    let mut groups: Vec<NodeGroup> = meant
        .into_iter()
        .map(|(name, results)| group(name, &results, summary(&results, describer)))
        .collect();
    if !others.is_empty() {
        let results: Vec<&NodeResult> = others.iter().map(|(_, result)| *result).collect();
        groups.push(group("not meant for this pod".to_owned(), &results, not_meant(&others)));
    }
    groups.sort_by_key(|group| Reverse(group.nodes.len()));
    groups
}

fn group(label: String, results: &[&NodeResult], words: String) -> NodeGroup {
    let mut codes: Vec<String> = results
        .iter()
        .flat_map(|result| main_blockers(result))
        .map(|blocker| blocker.kind.code_name.clone())
        .collect();
    codes.sort();
    codes.dedup();
    let nodes = results.iter().map(|result| result.name.to_string()).collect();
    NodeGroup { label, codes, nodes, members: vec![Member { nodes: Vec::new(), words }] }
}

/// Why nodes are not meant for the pod: each reason with its pools, the reason with the most nodes first.
fn not_meant(others: &[(String, &NodeResult)]) -> String {
    let mut reasons: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    for (pool, result) in others {
        *reasons.entry(label(result)).or_default().entry(pool).or_default() += 1;
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, pools)| Reverse(pools.values().sum::<usize>()));
    let describe = |(reason, pools): &(String, BTreeMap<&str, usize>)| {
        let mut largest: Vec<_> = pools.iter().collect();
        largest.sort_by_key(|(name, nodes)| (Reverse(**nodes), **name));
        let mut named: Vec<String> =
            largest.iter().take(NAMED).map(|(name, nodes)| format!("{name} {nodes}")).collect();
        if pools.len() > NAMED {
            named.push(format!("+{}", count(pools.len() - NAMED, "pool")));
        }
        format!("{reason}: {}", named.join(", "))
    };
    reasons.iter().map(describe).collect::<Vec<_>>().join("; ")
}

/// The blockers of a pool: amounts with the best node, other blockers with the particulars of the nearest node.
fn summary(results: &[&NodeResult], describer: &NodeDescriber<'_>) -> String {
    let mut parts: Vec<String> = lacked(results).iter().map(|resource| best(results, resource)).collect();
    let mut reasons: BTreeMap<&str, (usize, Option<String>)> = BTreeMap::new();
    for result in results {
        for blocker in result.blockers.iter().filter(|blocker| !blocker.kind.is_amount()) {
            let entry = reasons.entry(&blocker.kind.label);
            let entry = entry.or_insert_with(|| (0, describer.evidence(result, blocker)));
            entry.0 += 1;
        }
    }
    for (label, (nodes, particulars)) in reasons {
        let on = if nodes == results.len() { String::new() } else { format!(" on {nodes}") };
        parts.push(match particulars {
            Some(particulars) => format!("{label}{on}: {particulars}"),
            None => format!("{label}{on}"),
        });
    }
    parts.join("; ")
}

/// The resources of which nodes have too little, the most frequent first.
fn lacked(results: &[&NodeResult]) -> Vec<ResourceName> {
    let mut counts: BTreeMap<&ResourceName, usize> = BTreeMap::new();
    results
        .iter()
        .flat_map(|result| result.lacking())
        .for_each(|one| *counts.entry(&one.resource).or_default() += 1);
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by_key(|(_, count)| Reverse(*count));
    sorted.into_iter().map(|(resource, _)| resource.clone()).collect()
}

/// For example `nvidia.com/gpu: asks 8, best free 5 (gpu-17), 0 (25 nodes)`.
fn best(results: &[&NodeResult], resource: &ResourceName) -> String {
    let of = |result: &NodeResult| result.figures.iter().find(|one| one.resource == *resource).cloned();
    let figures: Vec<_> =
        results.iter().filter_map(|result| Some((result.name.as_str(), of(result)?))).collect();
    let Some((name, most)) = figures.iter().max_by_key(|(name, one)| (one.free(), Reverse(*name))) else {
        return resource.to_string();
    };
    let rest = figures.iter().filter(|(_, one)| one.free() <= 0).count();
    let none =
        if rest > 0 && most.free() > 0 { format!(", 0 ({})", count(rest, "node")) } else { String::new() };
    format!(
        "{resource}: asks {}, best free {} ({name}){none}",
        most.show(most.numbers.asks),
        most.show(most.free())
    )
}
