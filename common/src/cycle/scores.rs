//! Runs the Score plugins on the feasible nodes, and keeps the scores of each plugin apart.

use crate::cluster::{NodeId, PodContext, Snapshot};
use crate::framework::{CycleError, Registry, Scorer};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginScores {
    pub plugin: &'static str,
    pub raw: Vec<i64>,
    /// The normalised scores, multiplied with the plugin's weight. The sum of these over all plugins decides.
    pub weighted: Vec<i64>,
}

/// Runs all Score plugins on the `feasible` nodes; none if there are fewer than two nodes.
pub fn scores(
    context: &PodContext<'_>,
    world: &Snapshot<'_>,
    registry: &Registry,
    feasible: &[NodeId],
) -> Result<Vec<PluginScores>, CycleError> {
    if feasible.len() < 2 {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for entry in &registry.scores {
        let plugin = entry.plugin.name();
        let prepared = entry.plugin.prepare(context, world, feasible);
        if let Some(scorer) = prepared.map_err(|source| CycleError::PreScore { plugin, source })? {
            let (raw, mut weighted) = run_scorer(&scorer, feasible);
            weighted.iter_mut().for_each(|score| *score *= entry.weight);
            all.push(PluginScores { plugin, raw, weighted });
        }
    }
    Ok(all)
}

/// The scores of `nodes`, raw and normalised.
pub(super) fn run_scorer(scorer: &Scorer<'_>, nodes: &[NodeId]) -> (Vec<i64>, Vec<i64>) {
    let raw: Vec<i64> = scorer.score.all(nodes);
    let mut normalised = raw.clone();
    scorer.normalise.apply(nodes, &mut normalised);
    (raw, normalised)
}
