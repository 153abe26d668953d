//! How many pods each namespace has on nodes. Kept, and corrected for nodes that change.

use crate::cluster::{NodeId, Snapshot};
use crate::model::ids::Text;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct NamespacePodCounts {
    /// On all nodes together.
    totals: BTreeMap<Text, i64>,
    /// On each node, by node id, so that the counts of a changed node can be subtracted.
    by_node: Vec<BTreeMap<Text, i64>>,
}

#[derive(PartialEq, Eq, Hash)]
struct NamespacePodCountsKey;

/// The counts of the belief; a supposed ledger is ignored.
pub(super) fn counts(world: &Snapshot<'_>) -> Arc<NamespacePodCounts> {
    world.derive(NamespacePodCountsKey, |counts: &mut NamespacePodCounts, changed| {
        counts.by_node.resize_with(world.id_count(), BTreeMap::new);
        changed.for_each(|id| counts.refresh(id, world));
    })
}

impl NamespacePodCounts {
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
        let Some(entry) = self.by_node.get_mut(id.index()) else { return };
        for (namespace, count) in std::mem::replace(entry, part) {
            let left = self.get(&namespace).saturating_sub(count);
            // Namespaces without pods are removed, so that the map does not grow.
            match left {
                0 => self.totals.remove(&namespace),
                _ => self.totals.insert(namespace, left),
            };
        }
    }
}
