//! Fixes: single changes, then pairs of changes, on the nearest nodes. Each is tried in the cluster (`trial`): all filters run
//! again, for the pod and for the pods that have to move, and only what works is shown. Entry point: [`search`].
//!
//! `proposals` lists single changes, `moves`, `scale` and `add_node` look for larger ones, `describe` makes the text and commands, `template`
//! those that change a workload's template.

pub(super) mod add_node;
mod describe;
mod moves;
mod proposals;
mod request;
mod scale;
mod template;
#[cfg(test)]
mod tests;

use super::input::{Input, Limit};
use super::judge::{FilterResults, NodeResult};
use super::rank;
use super::report::{Cost, Fix};
use super::trial::{Edit, Trial};
use common::cluster::{Cluster, NodeId, Snapshot};
use common::model::NodeName;
use proposals::Proposal;
use std::collections::{BTreeMap, BTreeSet};

/// The number of nodes for which fixes are searched.
const NODES: usize = 12;

/// The number of fixes of one kind that are shown, unless all are requested.
const OF_A_KIND: usize = 2;

/// The number of sets of pods whose move is tried, over all nodes.
const MOVES: usize = 60;

/// The number of nodes for which scaling a workload down is tried.
const SCALED: usize = 3;

/// The kind of a fix that consists of several changes.
const SEVERAL: &str = "Several";

#[derive(Default)]
pub(super) struct FixSearchResult {
    pub(super) fixes: Vec<Fix>,
    pub(super) more: usize,
    /// The cost of each node's cheapest fix.
    pub(super) costs: BTreeMap<NodeId, Cost>,
}

/// Searches for fixes. `order` is the order of the nodes, the nearest first.
pub(super) fn search(
    cluster: &mut Cluster,
    input: &Input<'_>,
    filter_results: &FilterResults,
    order: &[usize],
) -> FixSearchResult {
    let limit = input.options.fixes;
    let is_placed = filter_results.awaited_node.is_some() || order.len() < filter_results.nodes.len();
    if limit == Limit::Most(0) || !filter_results.refused.is_empty() || is_placed {
        return FixSearchResult::default();
    }
    let mut found = FixSearchResult::default();
    let near = nearest(&cluster.snapshot(input.now), input, filter_results, order);
    let running = scale::running(&cluster.snapshot(input.now), input.pod);
    let mut moves = MOVES;
    let mut candidates: Vec<(Cost, usize, i64, Fix)> = Vec::new();
    for (at, result) in near.iter().enumerate() {
        let mut fixes = for_node(cluster, input, result, running);
        fixes.extend(moves::find(cluster, input, result, &mut moves));
        fixes.extend(Some(at).filter(|at| *at < SCALED).and_then(|_| scale::find(cluster, input, result)));
        if let Some(cheapest) = fixes.iter().map(|fix| fix.cost).min() {
            found.costs.insert(result.id, cheapest);
        }
        let missing = rank::missing(result);
        candidates.extend(fixes.into_iter().map(|fix| (fix.cost, fix.edits.len(), missing, fix)));
    }
    let grown = add_node::find(cluster, input, &near);
    candidates.extend(grown.map(|fix| (fix.cost, fix.edits.len(), i64::MAX, fix)));
    candidates.sort_by_key(|(cost, edits, missing, _)| (*cost, *edits, *missing));
    let all = distinct(candidates.into_iter().map(|(.., fix)| fix), limit);
    let shown = limit.of(all.len());
    found.more = all.len() - shown;
    found.fixes = all.into_iter().take(shown).collect();
    for (index, fix) in found.fixes.iter_mut().enumerate() {
        fix.id = letter(index);
    }
    found
}

/// The nodes for which fixes are searched: the nearest, the nearest of the right kind, and the nearest of each group. Nodes whose
/// labels do not match and cannot be corrected (such as the zone) are left out.
fn nearest<'s>(
    snapshot: &Snapshot<'_>,
    input: &Input<'_>,
    filter_results: &'s FilterResults,
    order: &[usize],
) -> Vec<&'s NodeResult> {
    let ranked = order.iter().filter_map(|index| filter_results.nodes.get(*index));
    let ranked: Vec<&NodeResult> = ranked.filter(|result| is_curable(snapshot, input, result)).collect();
    let mut labels = BTreeSet::new();
    let first_of_each =
        ranked.iter().filter(|result| labels.len() < NODES && labels.insert(super::group::label(result)));
    let mut chosen: Vec<&NodeResult> = first_of_each.copied().collect();
    chosen.extend(ranked.iter().take(NODES / 2));
    chosen.extend(ranked.iter().filter(|result| result.is_right_kind()).take(NODES / 2));
    let ids: BTreeSet<NodeId> = chosen.iter().map(|result| result.id).collect();
    ranked.into_iter().filter(|result| ids.contains(&result.id)).take(NODES).collect()
}

fn is_curable(snapshot: &Snapshot<'_>, input: &Input<'_>, result: &NodeResult) -> bool {
    let node = snapshot.ledger(result.id).map(|ledger| &ledger.node);
    node.is_some_and(|node| proposals::correctable(input.pod, node).is_some())
}

/// The fixes for one node: single changes, and pairs of changes that do not help alone.
fn for_node(cluster: &mut Cluster, input: &Input<'_>, result: &NodeResult, running: usize) -> Vec<Fix> {
    let proposals = proposals::of(cluster, input, result, running);
    let mut fixes = Vec::new();
    let mut left: Vec<&Proposal> = Vec::new();
    for proposal in &proposals {
        if helps(cluster, input, &result.name, &[&proposal.edit]) {
            fixes.extend(describe::fix(cluster, input, &result.name, &[proposal]));
        } else if !proposal.is_wait() {
            left.push(proposal);
        }
    }
    for (at, one) in left.iter().enumerate() {
        for other in left.iter().skip(at + 1).filter(|other| !one.is_alternative_to(other)) {
            if helps(cluster, input, &result.name, &[&one.edit, &other.edit]) {
                fixes.extend(describe::fix(cluster, input, &result.name, &[one, other]));
            }
        }
    }
    fixes
}

/// Whether the pod fits on the node after these changes.
fn helps(cluster: &mut Cluster, input: &Input<'_>, node: &NodeName, edits: &[&Edit]) -> bool {
    let mut trial = Trial::new(cluster, input.pod, input.now);
    edits.iter().all(|edit| trial.apply(edit).is_ok()) && trial.fits_on(input.rules, node) == Ok(true)
}

/// Each fix once, and few of one kind. Fixes with several changes are shown if there is no simpler one that harms as little, or if
/// all are requested.
fn distinct(fixes: impl Iterator<Item = Fix>, limit: Limit) -> Vec<Fix> {
    let fixes: Vec<Fix> = fixes.collect();
    let simple = fixes.iter().filter(|fix| fix.kind != SEVERAL && fix.cost != Cost::Hardware);
    let least = simple.map(Fix::harm).min().filter(|_| limit != Limit::All);
    let mut kinds: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut kept: Vec<Fix> = Vec::new();
    for fix in fixes {
        let is_duplicate =
            kept.iter().any(|known| known.commands == fix.commands && !fix.commands.is_empty());
        // A fix that contains a smaller fix for the same node is not needed.
        let is_superset = kept.iter().any(|known| {
            known.lands_on == fix.lands_on
                && known.cost != Cost::Time
                && known.edits.iter().all(|edit| fix.edits.contains(edit))
        });
        let count = kinds.entry(fix.kind).or_default();
        let most = if fix.kind == request::KIND { 1 } else { OF_A_KIND };
        let is_limit_reached = limit != Limit::All && *count >= most;
        let has_simpler = fix.kind == SEVERAL && least.is_some_and(|least| least <= fix.harm());
        if is_duplicate || is_superset || is_limit_reached || has_simpler {
            continue;
        }
        *count += 1;
        kept.push(fix);
    }
    kept
}

/// The id of a fix: A, B, … Z, A1, B1, …
fn letter(index: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(index % 26).unwrap_or(0));
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}
