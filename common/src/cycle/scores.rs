//! What each plugin thinks of the nodes that can have a pod.

use crate::cluster::{NodeId, PodContext, Snapshot};
use crate::framework::{Registry, Scorer};

/// What one plugin thinks of the nodes that it was asked about, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginScores {
    /// The plugin.
    pub plugin: &'static str,
    /// As the plugin counts.
    pub raw: Vec<i64>,
    /// Brought to the common scale and multiplied with the plugin's weight: what is added up.
    pub weighted: Vec<i64>,
}

/// Asks all scores about the `feasible` nodes; none when there is nothing to choose from.
///
/// # Errors
/// When a plugin cannot say.
pub fn scores(
    pod_context: &PodContext<'_>,
    world: &Snapshot<'_>,
    registry: &Registry,
    feasible: &[NodeId],
) -> Result<Vec<PluginScores>, String> {
    if feasible.len() < 2 {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for entry in &registry.scores {
        let plugin = entry.plugin.name();
        let prepared = entry.plugin.prepare(pod_context, world, feasible);
        if let Some(scorer) = prepared.map_err(|why| failed(plugin, &why))? {
            let (raw, mut weighted) = ask(&scorer, feasible);
            weighted.iter_mut().for_each(|score| *score *= entry.weight);
            all.push(PluginScores { plugin, raw, weighted });
        }
    }
    Ok(all)
}

/// The scores of `nodes`, raw and normalised.
pub(super) fn ask(scorer: &Scorer<'_>, nodes: &[NodeId]) -> (Vec<i64>, Vec<i64>) {
    let raw: Vec<i64> = scorer.score.all(nodes);
    let mut normalised = raw.clone();
    scorer.normalise.apply(nodes, &mut normalised);
    (raw, normalised)
}

pub(super) fn failed(plugin: &str, why: &str) -> String {
    format!("running PreScore plugin \"{plugin}\": {why}")
}
