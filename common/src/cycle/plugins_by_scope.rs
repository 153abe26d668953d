//! The filters and scores of a profile by the scope of their answers. Entry point: [`split_by_scope`].

use super::filter_set::{FilterSet, PreparedFilter};
use crate::cluster::NodeId;
use crate::framework::{CycleError, Normalise, Registry, Scope, Scorer, WeightedScore};

/// The filters and scores of a registry by their scope for one pod.
pub(super) struct PluginsByScope<'c, 'r> {
    pub(super) cluster_filters: Vec<&'r PreparedFilter<'c>>,
    pub(super) local_scorers: LocalScorers<'c>,
    /// Scores of `Scope::Cluster`, and those with a normalisation of their own.
    pub(super) cluster_scores: Vec<&'c WeightedScore>,
    /// The numbers of all plugins of `Scope::Node`.
    pub(super) salts: Vec<u64>,
    /// The nodes for which the kept answers of the pod's class do not hold. They are filtered and scored one by one.
    pub(super) exceptions: Vec<NodeId>,
    /// true: a plugin named some of the exceptions, because of the owner of the pod.
    pub(super) has_own_exceptions: bool,
}

/// The prepared scorers of `Scope::Node`, each with its weight.
pub(super) struct LocalScorers<'c> {
    /// The scorers whose scores need no normalisation.
    pub(super) plain: Vec<(Scorer<'c>, i64)>,
    pub(super) by_highest: Vec<(Scorer<'c>, i64)>,
}

impl LocalScorers<'_> {
    fn plain(&self, id: NodeId) -> i64 {
        self.plain.iter().map(|(scorer, weight)| scorer.score.of(id) * weight).sum()
    }

    pub(super) fn raw(&self, id: NodeId) -> Vec<i64> {
        self.by_highest.iter().map(|(scorer, _)| scorer.score.of(id)).collect()
    }

    /// The sum of the plain scores, and the raw scores that are to be normalised.
    pub(super) fn both(&self, id: NodeId) -> (i64, Vec<i64>) {
        (self.plain(id), self.raw(id))
    }

    /// The sum of the normalised scores, given the highest raw score of each scorer.
    pub(super) fn normalised(&self, raw: &[i64], highest: &[i64]) -> i64 {
        let each = self.by_highest.iter().zip(raw.iter().zip(highest));
        each.map(|((scorer, weight), (raw, highest))| scorer.normalise.share(*raw, *highest) * weight).sum()
    }
}

pub(super) fn split_by_scope<'c, 'r>(
    filter_set: &'r FilterSet<'c>,
    registry: &'c Registry,
) -> Result<PluginsByScope<'c, 'r>, CycleError> {
    let (context, world) = (filter_set.context, filter_set.world);
    let mut plugins = PluginsByScope {
        cluster_filters: Vec::new(),
        local_scorers: LocalScorers { plain: Vec::new(), by_highest: Vec::new() },
        cluster_scores: Vec::new(),
        salts: Vec::new(),
        exceptions: world.nominated_nodes().filter(|id| !filter_set.nominated(*id).is_empty()).collect(),
        has_own_exceptions: false,
    };
    let nominated_nodes = plugins.exceptions.len();
    for filter in &filter_set.filters {
        match filter.plugin.scope(context, world) {
            Scope::Node(salt) => {
                plugins.salts.push(salt);
                plugins.exceptions.extend(filter.plugin.exceptions(context, world));
            }
            Scope::Cluster => plugins.cluster_filters.push(filter),
        }
    }
    for entry in &registry.scores {
        let Scope::Node(salt) = entry.plugin.scope(context, world) else {
            plugins.cluster_scores.push(entry);
            continue;
        };
        plugins.salts.push(salt);
        if let Some(scorer) = prepare(entry, filter_set, &[])? {
            plugins.exceptions.extend(entry.plugin.exceptions(context, world));
            let weighted = (scorer, entry.weight);
            match &weighted.0.normalise {
                Normalise::NotNeeded => plugins.local_scorers.plain.push(weighted),
                Normalise::ByHighest | Normalise::ByHighestReversed => {
                    plugins.local_scorers.by_highest.push(weighted)
                }
                Normalise::Custom(_) => plugins.cluster_scores.push(entry),
            }
        }
    }
    plugins.has_own_exceptions = plugins.exceptions.len() > nominated_nodes;
    plugins.exceptions.sort_unstable();
    plugins.exceptions.dedup();
    Ok(plugins)
}

pub(super) fn prepare<'c>(
    entry: &'c WeightedScore,
    filter_set: &FilterSet<'c>,
    feasible: &'c [NodeId],
) -> Result<Option<Scorer<'c>>, CycleError> {
    let prepared = entry.plugin.prepare(filter_set.context, filter_set.world, feasible);
    prepared.map_err(|source| CycleError::PreScore { plugin: entry.plugin.name(), source })
}
