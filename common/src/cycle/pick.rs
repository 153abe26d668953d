//! The best node for a pod: what is known of its class, and on top of it what follows from more than a node's own
//! books.

use super::index::{Choice, Local, Ranks, better, ranks};
use super::round::{Ready, Round, fits};
use super::scores::failed;
use crate::cluster::NodeId;
use crate::framework::{Normalise, Registry, Scope, Scorer, Status, Weighted};
use crate::model::ExtensionPoint;
use std::sync::Arc;

/// The plugins of a registry by what their answers about the pod follow from.
struct Sorted<'c, 'r> {
    /// Filters that look further than the node.
    wide: Vec<&'r Ready<'c>>,
    /// Scores that look no further.
    local: Local<'c>,
    /// Scores that do.
    wide_scores: Vec<&'c Weighted>,
    /// What else the plugins that look no further look at.
    salts: Vec<u64>,
    /// The nodes that the pod's class says nothing about.
    except: Vec<NodeId>,
    /// Whether some of these are so because of who owns the pod.
    is_at_home: bool,
}

/// The best node; `None` if no node can have the pod.
pub(super) fn best<'c>(round: &Round<'c>, registry: &'c Registry) -> Result<Option<NodeId>, String> {
    let begun = registry.begin();
    let sorted = sort(round, registry)?;
    let ranks = match sorted.is_at_home {
        true => ranks_of_strangers(round, registry)?,
        false => ranks(round, registry, &sorted.local, sorted.salts.clone()),
    };
    if ranks.is_over || ranks.failure.is_some() {
        round.looked(begun);
        return by_scan(round, registry);
    }
    if sorted.wide.is_empty() && sorted.wide_scores.is_empty() && registry.pre_scores.is_empty() {
        round.looked(begun);
        return scored(registry, || quick(round, &sorted, &ranks));
    }
    let (feasible, known) = feasible(round, &sorted, &ranks)?;
    round.looked(begun);
    pre_score(round, registry, &feasible);
    scored(registry, || wide(round, &sorted, &ranks, &feasible, known))
}

/// Measures how long it takes to find the best.
fn scored(
    registry: &Registry,
    best: impl FnOnce() -> Result<Option<NodeId>, String>,
) -> Result<Option<NodeId>, String> {
    let begun = registry.begin();
    let best = best();
    // Where there was none, nothing was scored.
    if best.as_ref().map_or(true, Option::is_some) {
        let status = if best.is_ok() { Status::Success } else { Status::Error };
        registry.passed(ExtensionPoint::Score, status, begun);
    }
    best
}

/// The ranks of the pod's class, when there are nodes where the pod finds something that others of its class do not:
/// what it hears there is not for them.
fn ranks_of_strangers(round: &Round<'_>, registry: &Registry) -> Result<Arc<Ranks>, String> {
    let stranger = round.pod_context.as_stranger();
    let round = Round::new(&stranger, round.world, registry);
    let sorted = sort(&round, registry)?;
    Ok(ranks(&round, registry, &sorted.local, sorted.salts.clone()))
}

/// The best node, found by asking every plugin about every node.
pub(super) fn by_scan<'c>(round: &Round<'c>, registry: &'c Registry) -> Result<Option<NodeId>, String> {
    among(round, registry, round.world.nodes().map(|ledger| ledger.id))
}

/// The best of those among these nodes that can have the pod.
pub(super) fn among(
    round: &Round<'_>,
    registry: &Registry,
    nodes: impl Iterator<Item = NodeId>,
) -> Result<Option<NodeId>, String> {
    let begun = registry.begin();
    let mut feasible = Vec::new();
    for id in nodes {
        if round.ask(id)?.is_empty() {
            feasible.push(id);
        }
    }
    round.looked(begun);
    pre_score(round, registry, &feasible);
    scored(registry, || highest_total(round, registry, &feasible))
}

fn highest_total(
    round: &Round<'_>,
    registry: &Registry,
    feasible: &[NodeId],
) -> Result<Option<NodeId>, String> {
    let mut totals = vec![0_i64; feasible.len()];
    for scores in super::scores(round.pod_context, round.world, registry, feasible)? {
        totals.iter_mut().zip(scores.weighted).for_each(|(total, score)| *total += score);
    }
    let choices = totals.into_iter().zip(feasible).map(|(score, id)| choice(round, score, *id));
    Ok(choices.fold(None, better).map(|best| best.id))
}

/// Nobody is asked for scores when there is nothing to choose from, as upstream.
fn pre_score(round: &Round<'_>, registry: &Registry, feasible: &[NodeId]) {
    if feasible.len() < 2 || registry.pre_scores.is_empty() {
        return;
    }
    let all = registry.begin();
    for plugin in &registry.pre_scores {
        let begun = registry.begin();
        plugin.pre_score(round.pod_context, round.world, feasible);
        registry.asked(plugin.name(), ExtensionPoint::PreScore, Status::Success, begun);
    }
    registry.passed(ExtensionPoint::PreScore, Status::Success, all);
}

fn sort<'c, 'r>(round: &'r Round<'c>, registry: &'c Registry) -> Result<Sorted<'c, 'r>, String> {
    let (pod_context, world) = (round.pod_context, round.world);
    let mut sorted = Sorted {
        wide: Vec::new(),
        local: Local { plain: Vec::new(), shared: Vec::new() },
        wide_scores: Vec::new(),
        salts: Vec::new(),
        except: world.nominees().filter(|id| !round.nominated(*id).is_empty()).collect(),
        is_at_home: false,
    };
    let nominees = sorted.except.len();
    for ready in &round.filters {
        match ready.plugin.scope(pod_context, world) {
            Scope::Node(salt) => {
                sorted.salts.push(salt);
                sorted.except.extend(ready.plugin.exceptions(pod_context, world));
            }
            Scope::Cluster => sorted.wide.push(ready),
        }
    }
    for entry in &registry.scores {
        let Scope::Node(salt) = entry.plugin.scope(pod_context, world) else {
            sorted.wide_scores.push(entry);
            continue;
        };
        sorted.salts.push(salt);
        if let Some(scorer) = prepare(entry, round, &[])? {
            sorted.except.extend(entry.plugin.exceptions(pod_context, world));
            let weighted = (scorer, entry.weight);
            match &weighted.0.normalise {
                Normalise::Already => sorted.local.plain.push(weighted),
                Normalise::ByHighest | Normalise::ByHighestReversed => sorted.local.shared.push(weighted),
                Normalise::With(_) => sorted.wide_scores.push(entry),
            }
        }
    }
    sorted.is_at_home = sorted.except.len() > nominees;
    sorted.except.sort_unstable();
    sorted.except.dedup();
    Ok(sorted)
}

fn prepare<'c>(
    entry: &'c Weighted,
    round: &Round<'c>,
    feasible: &'c [NodeId],
) -> Result<Option<Scorer<'c>>, String> {
    let prepared = entry.plugin.prepare(round.pod_context, round.world, feasible);
    prepared.map_err(|why| failed(entry.plugin.name(), &why))
}

/// When only the nodes themselves matter: the best of each group, and the exceptions one by one.
fn quick(round: &Round<'_>, sorted: &Sorted<'_, '_>, ranks: &Ranks) -> Result<Option<NodeId>, String> {
    let mut rivals: Vec<(Vec<i64>, Choice)> = Vec::new();
    for id in &sorted.except {
        if round.world.ledger(*id).is_some() && round.ask(*id)?.is_empty() {
            let (score, raw) = sorted.local.both(*id);
            rivals.push((raw, choice(round, score, *id)));
        }
    }
    let groups = ranks.best(round.world, &sorted.except);
    rivals.extend(groups.into_iter().map(|(raw, choice)| (raw.to_vec(), choice)));
    let highest = highest(sorted, rivals.iter().map(|(raw, _)| &raw[..]));
    let total = |(raw, choice): (Vec<i64>, Choice)| Choice {
        score: choice.score + sorted.local.normalised(&raw, &highest),
        ..choice
    };
    Ok(rivals.into_iter().map(total).fold(None, better).map(|best| best.id))
}

/// All nodes that can have the pod: first those that its class speaks for, so many of them, then the exceptions.
fn feasible(
    round: &Round<'_>,
    sorted: &Sorted<'_, '_>,
    ranks: &Ranks,
) -> Result<(Vec<NodeId>, usize), String> {
    let mut feasible: Vec<NodeId> = ranks.feasible().collect();
    if !sorted.except.is_empty() {
        feasible.retain(|id| sorted.except.binary_search(id).is_err());
    }
    for filter in &sorted.wide {
        let mut kept = Vec::with_capacity(feasible.len());
        for id in feasible {
            if fits(filter, id)? {
                kept.push(id);
            }
        }
        feasible = kept;
    }
    let known = feasible.len();
    for id in &sorted.except {
        if round.world.ledger(*id).is_some() && round.ask(*id)?.is_empty() {
            feasible.push(*id);
        }
    }
    Ok((feasible, known))
}

/// The best of the feasible nodes, when some scores look further than the node.
fn wide(
    round: &Round<'_>,
    sorted: &Sorted<'_, '_>,
    ranks: &Ranks,
    feasible: &[NodeId],
    known: usize,
) -> Result<Option<NodeId>, String> {
    if feasible.len() < 2 {
        return Ok(feasible.first().copied());
    }
    let mut totals = local(sorted, ranks, feasible, known);
    for entry in &sorted.wide_scores {
        if let Some(scorer) = prepare(entry, round, feasible)? {
            let mut scores: Vec<i64> = scorer.score.all(feasible);
            scorer.normalise.apply(feasible, &mut scores);
            totals.iter_mut().zip(scores).for_each(|(total, score)| *total += score * entry.weight);
        }
    }
    // Node order is asked only about the best: with many nodes it costs more than all that came before.
    let highest = totals.iter().copied().max();
    let best = totals.iter().zip(feasible).filter(|(total, _)| Some(**total) == highest);
    Ok(best.map(|(_, id)| *id).min_by_key(|id| round.world.order(*id)))
}

/// What each of the feasible nodes scores with those who look no further than the node. The class speaks for the first
/// `known` of them.
fn local(sorted: &Sorted<'_, '_>, ranks: &Ranks, feasible: &[NodeId], known: usize) -> Vec<i64> {
    let (known, except) = feasible.split_at(known.min(feasible.len()));
    let except: Vec<(i64, Vec<i64>)> = except.iter().map(|id| sorted.local.both(*id)).collect();
    let present = ranks.groups_of(known);
    let groups = || ranks.raw().zip(&present);
    let raw = groups().filter(|(_, is_present)| **is_present).map(|(raw, _)| raw);
    let highest = highest(sorted, raw.chain(except.iter().map(|(_, raw)| &raw[..])));
    let bonus: Vec<i64> = ranks.raw().map(|raw| sorted.local.normalised(raw, &highest)).collect();
    let mut totals = ranks.totals(known, &bonus);
    totals.extend(except.iter().map(|(score, raw)| score + sorted.local.normalised(raw, &highest)));
    totals
}

/// The highest of each raw score that is to be normalised.
fn highest<'v>(sorted: &Sorted<'_, '_>, raw: impl Iterator<Item = &'v [i64]>) -> Vec<i64> {
    let mut highest = vec![i64::MIN; sorted.local.shared.len()];
    for raw in raw {
        highest.iter_mut().zip(raw).for_each(|(highest, raw)| *highest = (*highest).max(*raw));
    }
    highest
}

fn choice(round: &Round<'_>, score: i64, id: NodeId) -> Choice {
    Choice { score, order: round.world.order(id), id }
}
