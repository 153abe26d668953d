//! How many pods each namespace has on nodes: kept, and corrected where nodes changed.

use crate::cluster::{NodeId, Snapshot};
use crate::model::ids::Text;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The pods of each namespace.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Of all nodes.
    totals: BTreeMap<Text, i64>,
    /// Of the node at each place, so that it can be taken out again.
    parts: Vec<BTreeMap<Text, i64>>,
}

#[derive(PartialEq, Eq, Hash)]
struct PodCounts;

/// The counts of what is believed.
pub(super) fn of(world: &Snapshot<'_>) -> Arc<Counts> {
    world.derive(PodCounts, |counts: &mut Counts, changed| {
        counts.parts.resize_with(world.places(), BTreeMap::new);
        changed.for_each(|id| counts.refresh(id, world));
    })
}

impl Counts {
    /// Those of `namespace`.
    pub(super) fn get(&self, namespace: &str) -> i64 {
        self.totals.get(namespace).copied().unwrap_or(0)
    }

    fn refresh(&mut self, id: NodeId, world: &Snapshot<'_>) {
        let mut part: BTreeMap<Text, i64> = BTreeMap::new();
        for pod in world.believed(id).into_iter().flat_map(|ledger| &ledger.pods) {
            *part.entry(Arc::clone(&pod.key.namespace)).or_default() += 1;
        }
        for (namespace, count) in &part {
            *self.totals.entry(Arc::clone(namespace)).or_default() += count;
        }
        let Some(place) = self.parts.get_mut(id.index()) else { return };
        for (namespace, count) in std::mem::replace(place, part) {
            let left = self.get(&namespace).saturating_sub(count);
            // Namespaces come and go: those without pods are not remembered.
            match left {
                0 => self.totals.remove(&namespace),
                _ => self.totals.insert(namespace, left),
            };
        }
    }
}
