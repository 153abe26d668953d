//! Finds the best node for a pod. [`best`] takes the kept answers for the pod's class (`index`), and runs the other plugins on
//! top; [`by_scan`] and [`best_among`] run every plugin on every node given.

use super::filter_set::{FilterSet, fits};
use super::index::{ClassRanking, ScoredNode, better, class_ranking};
use super::plugins_by_scope::{PluginsByScope, prepare, split_by_scope};
use crate::cluster::NodeId;
use crate::framework::{CycleError, Registry, Status};
use crate::model::ExtensionPoint;
use std::sync::Arc;

pub(super) fn best<'c>(
    filter_set: &FilterSet<'c>,
    registry: &'c Registry,
) -> Result<Option<NodeId>, CycleError> {
    let start = registry.start_timer();
    let plugins = split_by_scope(filter_set, registry)?;
    let ranking = match plugins.has_own_exceptions {
        true => ranking_without_ownership(filter_set, registry)?,
        false => class_ranking(filter_set, registry, &plugins.local_scorers, plugins.salts.clone()),
    };
    if ranking.has_too_many_groups || ranking.failure.is_some() {
        filter_set.add_filter_time(start);
        return by_scan(filter_set, registry);
    }
    if plugins.cluster_filters.is_empty()
        && plugins.cluster_scores.is_empty()
        && registry.pre_scores.is_empty()
    {
        filter_set.add_filter_time(start);
        return record_score_time(registry, || best_by_ranking(filter_set, &plugins, &ranking));
    }
    let (feasible, ranked) = feasible(filter_set, &plugins, &ranking)?;
    filter_set.add_filter_time(start);
    pre_score(filter_set, registry, &feasible);
    record_score_time(registry, || best_by_all_scores(filter_set, &plugins, &ranking, &feasible, ranked))
}

fn record_score_time(
    registry: &Registry,
    best: impl FnOnce() -> Result<Option<NodeId>, CycleError>,
) -> Result<Option<NodeId>, CycleError> {
    let start = registry.start_timer();
    let best = best();
    // Without a feasible node nothing was scored.
    if best.as_ref().map_or(true, Option::is_some) {
        let status = if best.is_ok() { Status::Success } else { Status::Error };
        registry.record_extension_point(ExtensionPoint::Score, status, start);
    }
    best
}

/// The ranking of the pod's class for a pod that may use reservations on some nodes. The ranking is computed as if the pod had no
/// owner, because other pods of the class may not use these reservations.
fn ranking_without_ownership(
    filter_set: &FilterSet<'_>,
    registry: &Registry,
) -> Result<Arc<ClassRanking>, CycleError> {
    let without_owner = filter_set.context.as_stranger();
    let filter_set = FilterSet::new(&without_owner, filter_set.world, registry);
    let plugins = split_by_scope(&filter_set, registry)?;
    Ok(class_ranking(&filter_set, registry, &plugins.local_scorers, plugins.salts.clone()))
}

/// The best node, found by running every plugin on every node.
pub(super) fn by_scan<'c>(
    filter_set: &FilterSet<'c>,
    registry: &'c Registry,
) -> Result<Option<NodeId>, CycleError> {
    best_among(filter_set, registry, filter_set.world.nodes().map(|ledger| ledger.id))
}

/// The best of the nodes in `nodes` that fit the pod.
pub(super) fn best_among(
    filter_set: &FilterSet<'_>,
    registry: &Registry,
    nodes: impl Iterator<Item = NodeId>,
) -> Result<Option<NodeId>, CycleError> {
    let start = registry.start_timer();
    let mut feasible = Vec::new();
    for id in nodes {
        if filter_set.first_rejections(id)?.is_empty() {
            feasible.push(id);
        }
    }
    filter_set.add_filter_time(start);
    pre_score(filter_set, registry, &feasible);
    record_score_time(registry, || highest_total(filter_set, registry, &feasible))
}

fn highest_total(
    filter_set: &FilterSet<'_>,
    registry: &Registry,
    feasible: &[NodeId],
) -> Result<Option<NodeId>, CycleError> {
    let mut totals = vec![0_i64; feasible.len()];
    for scores in super::scores(filter_set.context, filter_set.world, registry, feasible)? {
        totals.iter_mut().zip(scores.weighted).for_each(|(total, score)| *total += score);
    }
    let choices = totals.into_iter().zip(feasible).map(|(score, id)| scored_node(filter_set, score, *id));
    Ok(choices.fold(None, better).map(|best| best.id))
}

/// Runs PreScore. With fewer than two nodes there is nothing to choose, and PreScore and Score do not run, as in kube-scheduler.
fn pre_score(filter_set: &FilterSet<'_>, registry: &Registry, feasible: &[NodeId]) {
    if feasible.len() < 2 || registry.pre_scores.is_empty() {
        return;
    }
    let all = registry.start_timer();
    for plugin in &registry.pre_scores {
        let start = registry.start_timer();
        plugin.pre_score(filter_set.context, filter_set.world, feasible);
        registry.record_plugin(plugin.name(), ExtensionPoint::PreScore, Status::Success, start);
    }
    registry.record_extension_point(ExtensionPoint::PreScore, Status::Success, all);
}

/// The best node when all plugins are of `Scope::Node`: the best of each group of the ranking, and the exceptions one by one.
fn best_by_ranking(
    filter_set: &FilterSet<'_>,
    plugins: &PluginsByScope<'_, '_>,
    ranking: &ClassRanking,
) -> Result<Option<NodeId>, CycleError> {
    let mut candidates: Vec<(Vec<i64>, ScoredNode)> = Vec::new();
    for id in &plugins.exceptions {
        if filter_set.world.ledger(*id).is_some() && filter_set.first_rejections(*id)?.is_empty() {
            let (score, raw) = plugins.local_scorers.both(*id);
            candidates.push((raw, scored_node(filter_set, score, *id)));
        }
    }
    let groups = ranking.best(filter_set.world, &plugins.exceptions);
    candidates.extend(groups.into_iter().map(|(raw, choice)| (raw.to_vec(), choice)));
    let highest = highest(plugins, candidates.iter().map(|(raw, _)| &raw[..]));
    let total = |(raw, choice): (Vec<i64>, ScoredNode)| ScoredNode {
        score: choice.score + plugins.local_scorers.normalised(&raw, &highest),
        ..choice
    };
    Ok(candidates.into_iter().map(total).fold(None, better).map(|best| best.id))
}

/// All nodes that fit the pod: first the nodes of the ranking (their number is returned too), then the exceptions.
fn feasible(
    filter_set: &FilterSet<'_>,
    plugins: &PluginsByScope<'_, '_>,
    ranking: &ClassRanking,
) -> Result<(Vec<NodeId>, usize), CycleError> {
    let mut feasible: Vec<NodeId> = ranking.feasible().collect();
    if !plugins.exceptions.is_empty() {
        feasible.retain(|id| plugins.exceptions.binary_search(id).is_err());
    }
    for filter in &plugins.cluster_filters {
        let mut fitting = Vec::with_capacity(feasible.len());
        for id in feasible {
            if fits(filter, id)? {
                fitting.push(id);
            }
        }
        feasible = fitting;
    }
    let ranked = feasible.len();
    for id in &plugins.exceptions {
        if filter_set.world.ledger(*id).is_some() && filter_set.first_rejections(*id)?.is_empty() {
            feasible.push(*id);
        }
    }
    Ok((feasible, ranked))
}

/// The best of the feasible nodes when some scores are of `Scope::Cluster`.
fn best_by_all_scores(
    filter_set: &FilterSet<'_>,
    plugins: &PluginsByScope<'_, '_>,
    ranking: &ClassRanking,
    feasible: &[NodeId],
    ranked: usize,
) -> Result<Option<NodeId>, CycleError> {
    if feasible.len() < 2 {
        return Ok(feasible.first().copied());
    }
    let mut totals = local_totals(plugins, ranking, feasible, ranked);
    for entry in &plugins.cluster_scores {
        if let Some(scorer) = prepare(entry, filter_set, feasible)? {
            let mut scores: Vec<i64> = scorer.score.all(feasible);
            scorer.normalise.apply(feasible, &mut scores);
            totals.iter_mut().zip(scores).for_each(|(total, score)| *total += score * entry.weight);
        }
    }
    // Node order is looked up only for the best: with many nodes, the lookup costs more than everything before.
    let highest = totals.iter().copied().max();
    let best = totals.iter().zip(feasible).filter(|(total, _)| Some(**total) == highest);
    Ok(best.map(|(_, id)| *id).min_by_key(|id| filter_set.world.order(*id)))
}

/// The sum of the `Scope::Node` scores of each feasible node. The first `ranked` nodes have their scores in the ranking; the others
/// are exceptions.
fn local_totals(
    plugins: &PluginsByScope<'_, '_>,
    ranking: &ClassRanking,
    feasible: &[NodeId],
    ranked: usize,
) -> Vec<i64> {
    let (ranked, exceptions) = feasible.split_at(ranked.min(feasible.len()));
    let exceptions: Vec<(i64, Vec<i64>)> =
        exceptions.iter().map(|id| plugins.local_scorers.both(*id)).collect();
    let present = ranking.groups_of(ranked);
    let groups = || ranking.raw().zip(&present);
    let raw = groups().filter(|(_, is_present)| **is_present).map(|(raw, _)| raw);
    let highest = highest(plugins, raw.chain(exceptions.iter().map(|(_, raw)| &raw[..])));
    let bonus: Vec<i64> = ranking.raw().map(|raw| plugins.local_scorers.normalised(raw, &highest)).collect();
    let mut totals = ranking.totals(ranked, &bonus);
    totals.extend(
        exceptions.iter().map(|(score, raw)| score + plugins.local_scorers.normalised(raw, &highest)),
    );
    totals
}

/// The highest raw score of each plugin whose scores are normalised.
fn highest<'v>(plugins: &PluginsByScope<'_, '_>, raw: impl Iterator<Item = &'v [i64]>) -> Vec<i64> {
    let mut highest = vec![i64::MIN; plugins.local_scorers.by_highest.len()];
    for raw in raw {
        highest.iter_mut().zip(raw).for_each(|(highest, raw)| *highest = (*highest).max(*raw));
    }
    highest
}

fn scored_node(filter_set: &FilterSet<'_>, score: i64, id: NodeId) -> ScoredNode {
    ScoredNode { score, order: filter_set.world.order(id), id }
}
