//! What would help: single changes, then pairs, on the nodes that come nearest. Each is made in the belief and all filters are
//! asked again, for the pod and for whoever has to move; what does not survive is not told.

mod atoms;
pub(super) mod grow;
mod moves;
mod request;
mod scale;
mod tell;
#[cfg(test)]
mod tests;

use super::input::{Input, Limit};
use super::judge::{Sight, View};
use super::rank;
use super::report::{Cost, Fix};
use super::trial::{Edit, Trial};
use atoms::Atom;
use common::cluster::{Cluster, NodeId, Snapshot};
use common::model::NodeName;
use std::collections::{BTreeMap, BTreeSet};

/// Nodes whose cures are looked for.
const NODES: usize = 12;

/// Fixes of one kind that are told, unless all are wanted.
const OF_A_KIND: usize = 2;

/// Sets of pods that are moved in thought, over all nodes.
const MOVES: usize = 60;

/// Nodes whose workloads are looked at for pods that they could do without.
const SCALED: usize = 3;

/// The kind of a fix that takes several changes.
const SEVERAL: &str = "Several";

/// What was found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) fixes: Vec<Fix>,
    pub(super) more: usize,
    /// What the cheapest cure of each node costs.
    pub(super) costs: BTreeMap<NodeId, Cost>,
}

/// Looks for what would help. `order` has the nearest nodes first.
pub(super) fn search(cluster: &mut Cluster, input: &Input<'_>, sight: &Sight, order: &[usize]) -> Found {
    let limit = input.options.fixes;
    let is_placed = sight.awaits.is_some() || order.len() < sight.views.len();
    if limit == Limit::Most(0) || !sight.refused.is_empty() || is_placed {
        return Found::default();
    }
    let mut found = Found::default();
    let near = nearest(&cluster.snapshot(input.now), input, sight, order);
    let mut moves = MOVES;
    let mut proposals: Vec<(Cost, usize, i64, Fix)> = Vec::new();
    for (at, view) in near.iter().enumerate() {
        let mut fixes = for_node(cluster, input, view);
        fixes.extend(moves::away(cluster, input, view, &mut moves));
        fixes.extend(Some(at).filter(|at| *at < SCALED).and_then(|_| scale::down(cluster, input, view)));
        if let Some(cheapest) = fixes.iter().map(|fix| fix.cost).min() {
            found.costs.insert(view.id, cheapest);
        }
        let missing = rank::missing(view);
        proposals.extend(fixes.into_iter().map(|fix| (fix.cost, fix.edits.len(), missing, fix)));
    }
    let grown = grow::node(cluster, input, &near);
    proposals.extend(grown.map(|fix| (fix.cost, fix.edits.len(), i64::MAX, fix)));
    proposals.sort_by_key(|(cost, edits, missing, _)| (*cost, *edits, *missing));
    let all = distinct(proposals.into_iter().map(|(.., fix)| fix), limit);
    let shown = limit.of(all.len());
    found.more = all.len() - shown;
    found.fixes = all.into_iter().take(shown).collect();
    for (index, fix) in found.fixes.iter_mut().enumerate() {
        fix.id = letter(index);
    }
    found
}

/// The nodes that are worth a look: the nearest, the nearest that are open to the pod, and the nearest of each sort. Those whose
/// labels are not what the pod wants, and cannot be made so, are in another zone as it were, however near.
fn nearest<'s>(
    snapshot: &Snapshot<'_>,
    input: &Input<'_>,
    sight: &'s Sight,
    order: &[usize],
) -> Vec<&'s View> {
    let ranked = order.iter().filter_map(|index| sight.views.get(*index));
    let ranked: Vec<&View> = ranked.filter(|view| is_curable(snapshot, input, view)).collect();
    let mut labels = BTreeSet::new();
    let first_of_each =
        ranked.iter().filter(|view| labels.len() < NODES && labels.insert(super::group::label(view)));
    let mut chosen: Vec<&View> = first_of_each.copied().collect();
    chosen.extend(ranked.iter().take(NODES / 2));
    chosen.extend(ranked.iter().filter(|view| view.is_right_kind()).take(NODES / 2));
    let ids: BTreeSet<NodeId> = chosen.iter().map(|view| view.id).collect();
    ranked.into_iter().filter(|view| ids.contains(&view.id)).take(NODES).collect()
}

fn is_curable(snapshot: &Snapshot<'_>, input: &Input<'_>, view: &View) -> bool {
    let node = snapshot.ledger(view.id).map(|ledger| &ledger.node);
    node.is_some_and(|node| atoms::correctable(input.pod, node).is_some())
}

/// What would help on one node.
fn for_node(cluster: &mut Cluster, input: &Input<'_>, view: &View) -> Vec<Fix> {
    let atoms = atoms::of(cluster, input, view);
    let mut fixes = Vec::new();
    let mut left: Vec<&Atom> = Vec::new();
    for atom in &atoms {
        if helps(cluster, input, &view.name, &[&atom.edit]) {
            fixes.extend(tell::fix(cluster, input, &view.name, &[atom]));
        } else {
            left.push(atom);
        }
    }
    for (at, one) in left.iter().enumerate() {
        for other in left.iter().skip(at + 1).filter(|other| !one.is_instead_of(other)) {
            if helps(cluster, input, &view.name, &[&one.edit, &other.edit]) {
                fixes.extend(tell::fix(cluster, input, &view.name, &[one, other]));
            }
        }
    }
    fixes
}

/// Whether the node could have the pod after these changes.
fn helps(cluster: &mut Cluster, input: &Input<'_>, node: &NodeName, edits: &[&Edit]) -> bool {
    let mut trial = Trial::new(cluster, input.pod, input.now);
    edits.iter().all(|edit| trial.apply(edit).is_ok()) && trial.can_have(input.rules, node) == Ok(true)
}

/// Each change once, and few of one kind. What takes two changes is told when nothing simpler is, or everything is wanted.
fn distinct(fixes: impl Iterator<Item = Fix>, limit: Limit) -> Vec<Fix> {
    let fixes: Vec<Fix> = fixes.collect();
    let is_simple = |fix: &Fix| fix.kind != SEVERAL && fix.cost < Cost::Hardware;
    let has_simple = limit != Limit::All && fixes.iter().any(is_simple);
    let mut kinds: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut kept: Vec<Fix> = Vec::new();
    for fix in fixes {
        let is_told = kept.iter().any(|known| known.commands == fix.commands && !fix.commands.is_empty());
        // What a larger change contains that helps by itself is not needed.
        let is_more = kept.iter().any(|known| {
            known.lands_on == fix.lands_on && known.edits.iter().all(|edit| fix.edits.contains(edit))
        });
        let count = kinds.entry(fix.kind).or_default();
        let most = if fix.kind == request::KIND { 1 } else { OF_A_KIND };
        let is_many = limit != Limit::All && *count >= most;
        if is_told || is_more || is_many || (has_simple && fix.kind == SEVERAL) {
            continue;
        }
        *count += 1;
        kept.push(fix);
    }
    kept
}

/// A, B, … Z, A1, B1, …
fn letter(index: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(index % 26).unwrap_or(0));
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}
