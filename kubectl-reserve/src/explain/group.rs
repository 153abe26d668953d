//! Groups the nodes that do not fit, so that the counts add up to all of them: by blocker, or by pool in large clusters. Entry
//! point: [`groups`].

use super::input::GroupBy;
use super::judge::{ClassifiedRejection, FilterResults, NodeDescriber, NodeResult};
use super::kind;
use super::report::{Figure, Member, NodeGroup};
use super::{evidence, pool};
use common::framework::{BlockerClass, RefusalCode};
use common::model::ResourceName;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Clusters with more nodes than this are grouped by pool.
const MANY: usize = 40;

/// With more pools than this, nodes are grouped by blocker after all.
const POOLS: usize = 12;

/// The number of nodes of a group whose particulars are found even if that takes a look at all pods.
const COSTLY_EVIDENCE_MAX: usize = 8;

/// The nodes that do not fit, each in one group, the largest group first; and `pool` or `zone` if nodes are grouped by that.
/// `order` is the order of the nodes, the nearest first.
pub(super) fn groups(
    filter_results: &FilterResults,
    order: &[usize],
    describer: &NodeDescriber<'_>,
    by: GroupBy,
) -> (Vec<NodeGroup>, Option<&'static str>) {
    let results: Vec<&NodeResult> =
        order.iter().filter_map(|index| filter_results.nodes.get(*index)).collect();
    match by {
        GroupBy::Reason => {}
        GroupBy::Pool => return (pool::groups(&results, describer, &pool::pool_of), Some("pool")),
        GroupBy::Zone => return (pool::groups(&results, describer, &pool::zone_of), Some("zone")),
        GroupBy::Auto if filter_results.nodes.len() > MANY && filter_results.refused.is_empty() => {
            let groups = pool::groups(&results, describer, &pool::pool_of);
            if groups.len() <= POOLS {
                return (groups, Some("pool"));
            }
        }
        GroupBy::Auto => {}
    }
    (by_reason(&results, describer), None)
}

fn by_reason(results: &[&NodeResult], describer: &NodeDescriber<'_>) -> Vec<NodeGroup> {
    let mut found: BTreeMap<String, Vec<&NodeResult>> = BTreeMap::new();
    for result in results {
        found.entry(label(result)).or_default().push(result);
    }
    let mut groups: Vec<NodeGroup> = found
        .into_iter()
        .map(|(label, results)| {
            let codes = results.first().map(|result| codes(result)).unwrap_or_default();
            let nodes = results.iter().map(|result| result.name.to_string()).collect();
            NodeGroup { label, codes, nodes, members: members(&results, describer) }
        })
        .collect();
    groups.sort_by_key(|group| Reverse(group.nodes.len()));
    groups
}

/// The blockers that are not about amounts; all blockers if there are none.
pub(super) fn main_blockers(result: &NodeResult) -> Vec<&ClassifiedRejection> {
    let hard: Vec<&ClassifiedRejection> =
        result.blockers.iter().filter(|blocker| !blocker.kind.is_amount()).collect();
    if hard.is_empty() { result.blockers.iter().collect() } else { hard }
}

/// The label of a node's group: its main blockers.
pub(super) fn label(result: &NodeResult) -> String {
    let mut low = Vec::new();
    let mut labels: Vec<String> = Vec::new();
    for blocker in main_blockers(result) {
        let label = &blocker.kind.label;
        match kind::too_low(&blocker.rejection.reason) {
            Some(resource) => low.push(resource.as_str()),
            None if labels.contains(label) => {}
            None => labels.push(label.clone()),
        }
    }
    if !low.is_empty() {
        labels.insert(0, format!("{} too low", low.join(" + ")));
    }
    labels.join(" + ")
}

fn codes(result: &NodeResult) -> Vec<String> {
    let mut codes: Vec<String> = Vec::new();
    for blocker in main_blockers(result) {
        if !codes.contains(&blocker.kind.code_name) {
            codes.push(blocker.kind.code_name.clone());
        }
    }
    codes
}

/// The nodes of a group with their particulars; nodes with the same particulars are one member.
fn members(results: &[&NodeResult], describer: &NodeDescriber<'_>) -> Vec<Member> {
    let mut members: Vec<Member> = Vec::new();
    let mut at: BTreeMap<String, usize> = BTreeMap::new();
    for (index, result) in results.iter().enumerate() {
        let words = words(result, describer, index < COSTLY_EVIDENCE_MAX);
        let place = *at.entry(words.clone()).or_insert_with(|| {
            members.push(Member { nodes: Vec::new(), words });
            members.len() - 1
        });
        if let Some(member) = members.get_mut(place) {
            member.nodes.push(result.name.to_string());
        }
    }
    members
}

/// The particulars of one node; `with_costly_evidence`: also those that take a look at all pods.
fn words(result: &NodeResult, describer: &NodeDescriber<'_>, with_costly_evidence: bool) -> String {
    let main = main_blockers(result);
    let is_amount = |blocker: &&ClassifiedRejection| blocker.kind.is_amount();
    if main.iter().all(is_amount) && result.lacking().next().is_some() {
        return amounts(result);
    }
    let is_included =
        |blocker: &&&ClassifiedRejection| with_costly_evidence || evidence::is_cheap(&blocker.rejection);
    let particulars =
        main.iter().filter(is_included).filter_map(|blocker| describer.evidence(result, blocker));
    let mut words: Vec<String> = particulars.collect();
    words.extend(aside(result));
    words.join(" ")
}

/// What is missing of each resource: `-200m, -3Gi`.
pub(super) fn amounts(result: &NodeResult) -> String {
    let missing = |figure: &Figure| match figure.resource {
        ResourceName::Pods => format!("{} of {}", figure.numbers.used, figure.numbers.allocatable),
        _ => format!("-{}", figure.show(figure.short())),
    };
    result.lacking().map(missing).collect::<Vec<_>>().join(", ")
}

/// A remark in brackets: `(also cpu -700m)`, `(otherwise fits)`.
fn aside(result: &NodeResult) -> Option<String> {
    let short: Vec<String> =
        result.lacking().map(|one| format!("{} -{}", one.resource, one.show(one.short()))).collect();
    if !short.is_empty() {
        return Some(format!("(also {})", short.join(", ")));
    }
    let [only] = &result.blockers[..] else { return None };
    if only.kind.class == BlockerClass::Never || only.kind.code == RefusalCode::Refused {
        return None;
    }
    let free = result.figures.iter().find(|_| only.kind.class == BlockerClass::State);
    Some(match free {
        Some(free) => format!("(otherwise fits: {} {} free)", free.resource, free.show(free.free())),
        None => "(otherwise fits)".to_owned(),
    })
}
