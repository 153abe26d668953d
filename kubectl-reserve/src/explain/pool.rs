//! Hundreds of nodes in a few lines: by pool or by zone, and what is not meant for the pod in one.

use super::group::{label, main_blockers};
use super::judge::{Teller, View};
use super::report::{Group, Member};
use super::words::count;
use common::cluster::Ledger;
use common::model::ResourceName;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The labels by which clouds and people name pools.
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

/// So many pools are named of those that are not meant for the pod.
const NAMED: usize = 3;

/// The pool that a node says it is of; else what its name has in common with its neighbours'.
pub(super) fn pool_of(ledger: &Ledger) -> String {
    let labels = &ledger.node.labels;
    let named = POOL_LABELS.iter().find_map(|key| labels.get(key)).filter(|value| !value.is_empty());
    named.map_or_else(|| stem(ledger.node.name.as_str()), str::to_owned)
}

/// The zone of a node.
pub(super) fn zone_of(ledger: &Ledger) -> String {
    ledger.node.labels.get(ZONE).unwrap_or("no zone").to_owned()
}

/// `gpu-17` as `gpu-*`.
fn stem(name: &str) -> String {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if stem.is_empty() || stem == name { name.to_owned() } else { format!("{stem}*") }
}

/// The nodes by `key`, what is not meant for the pod in one group.
pub(super) fn groups(views: &[&View], tell: &Teller<'_>, key: &dyn Fn(&Ledger) -> String) -> Vec<Group> {
    let mut meant: BTreeMap<String, Vec<&View>> = BTreeMap::new();
    let mut others = Vec::new();
    for view in views {
        let Some(ledger) = tell.world.ledger(view.id) else { continue };
        if view.is_right_kind() {
            meant.entry(key(ledger)).or_default().push(view);
        } else {
            others.push((key(ledger), *view));
        }
    }
    let mut groups: Vec<Group> =
        meant.into_iter().map(|(name, views)| group(name, &views, summary(&views, tell))).collect();
    if !others.is_empty() {
        let views: Vec<&View> = others.iter().map(|(_, view)| *view).collect();
        groups.push(group("not meant for this pod".to_owned(), &views, unmeant(&others)));
    }
    groups.sort_by_key(|group| Reverse(group.nodes.len()));
    groups
}

fn group(label: String, views: &[&View], words: String) -> Group {
    let mut codes: Vec<String> =
        views.iter().flat_map(|view| main_blockers(view)).map(|seen| seen.kind.code.clone()).collect();
    codes.sort();
    codes.dedup();
    let nodes = views.iter().map(|view| view.name.to_string()).collect();
    Group { label, codes, nodes, members: vec![Member { nodes: Vec::new(), words }] }
}

/// Why nodes are not meant for the pod, each reason with its pools, the largest first.
fn unmeant(others: &[(String, &View)]) -> String {
    let mut reasons: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    for (pool, view) in others {
        *reasons.entry(label(view)).or_default().entry(pool).or_default() += 1;
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

/// What stands in the way in a pool: the amounts with the best node, and the particulars of the nearest node for the rest.
fn summary(views: &[&View], tell: &Teller<'_>) -> String {
    let mut parts: Vec<String> = lacked(views).iter().map(|resource| best(views, resource)).collect();
    let mut told: BTreeMap<&str, (usize, Option<String>)> = BTreeMap::new();
    for view in views {
        for seen in view.blockers.iter().filter(|seen| !seen.kind.is_amount()) {
            let entry = told.entry(&seen.kind.label);
            let entry = entry.or_insert_with(|| (0, tell.evidence(view, seen)));
            entry.0 += 1;
        }
    }
    for (label, (nodes, particulars)) in told {
        let on = if nodes == views.len() { String::new() } else { format!(" on {nodes}") };
        parts.push(match particulars {
            Some(particulars) => format!("{label}{on}: {particulars}"),
            None => format!("{label}{on}"),
        });
    }
    parts.join("; ")
}

/// The resources that the nodes lack, the most often lacked first.
fn lacked(views: &[&View]) -> Vec<ResourceName> {
    let mut counts: BTreeMap<&ResourceName, usize> = BTreeMap::new();
    views
        .iter()
        .flat_map(|view| view.lacking())
        .for_each(|one| *counts.entry(&one.resource).or_default() += 1);
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by_key(|(_, count)| Reverse(*count));
    sorted.into_iter().map(|(resource, _)| resource.clone()).collect()
}

/// `nvidia.com/gpu: asks 8, best free 5 (gpu-17), 0 (25 nodes)`.
fn best(views: &[&View], resource: &ResourceName) -> String {
    let of = |view: &View| view.figures.iter().find(|one| one.resource == *resource).cloned();
    let figures: Vec<_> = views.iter().filter_map(|view| Some((view.name.as_str(), of(view)?))).collect();
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
