//! Which of the nodes that can have a pod is best, and what each plugin thinks of them.

use crate::cluster::{Asker, Ledger, Snapshot};
use crate::framework::{Registry, Weighted};

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
pub fn scores(
    asker: &Asker<'_>,
    world: &Snapshot<'_>,
    registry: &Registry,
    feasible: &[&Ledger<'_>],
) -> Vec<PluginScores> {
    if feasible.len() < 2 {
        return Vec::new();
    }
    let ask = |entry: &Weighted| {
        let score = entry.plugin.prepare(asker, world);
        let raw: Vec<i64> = feasible.iter().map(|ledger| score(ledger)).collect();
        let mut weighted = raw.clone();
        entry.plugin.normalise(&mut weighted);
        weighted.iter_mut().for_each(|score| *score *= entry.weight);
        PluginScores { plugin: entry.plugin.name(), raw, weighted }
    };
    registry.scores().iter().map(ask).collect()
}

/// The node with the highest sum of weighted scores; the first in node order among equals.
pub(super) fn best<'l, 'w>(
    asker: &Asker<'_>,
    world: &Snapshot<'_>,
    registry: &Registry,
    feasible: &[&'l Ledger<'w>],
) -> Option<&'l Ledger<'w>> {
    let mut totals = vec![0_i64; feasible.len()];
    for scores in scores(asker, world, registry, feasible) {
        totals.iter_mut().zip(scores.weighted).for_each(|(total, score)| *total += score);
    }
    let highest = totals.iter().copied().max()?;
    let winner = totals.iter().position(|total| *total == highest)?;
    feasible.get(winner).copied()
}
