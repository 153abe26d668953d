//! A value for each node that follows from that node's ledger alone. It is computed once, and again for ledgers that change. Entry
//! point: [`Snapshot::column`].

use crate::cluster::{Ledger, NodeId, Snapshot};
use std::hash::Hash;
use std::sync::Arc;

/// A question that the ledger of each node answers. The fields of the type tell two questions of one type apart: they are the key
/// of the cache.
pub trait PerNode: Hash + Eq + Clone + Send + 'static {
    /// The type of the answer; ids without a node have the default.
    type Value: Default + Clone + Send + Sync + 'static;

    fn read(&self, ledger: &Ledger) -> Self::Value;
}

#[derive(Clone, Debug)]
pub struct Column<V> {
    values: Arc<Vec<V>>,
    supposed: Option<(NodeId, V)>,
}

impl<V: Default> Column<V> {
    /// The answer of `node`; `None` for a node that was added later.
    pub fn get(&self, node: NodeId) -> Option<&V> {
        match &self.supposed {
            Some((supposed, value)) if *supposed == node => Some(value),
            _ => self.values.get(node.index()),
        }
    }

    /// All answers with the ids of their nodes; unused ids have the default.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &V)> {
        let ids = (0..self.values.len()).map(NodeId::new);
        ids.filter_map(|id| self.get(id).map(|value| (id, value)))
    }
}

impl Snapshot<'_> {
    pub fn column<Q: PerNode>(&self, question: &Q) -> Column<Q::Value> {
        let values = self.derive(question.clone(), |values: &mut Vec<Q::Value>, changed| {
            values.resize(self.id_count(), Q::Value::default());
            for id in changed {
                let answer = self.believed(id).map(|ledger| question.read(ledger));
                if let Some(value) = values.get_mut(id.index()) {
                    *value = answer.unwrap_or_default();
                }
            }
        });
        let supposed = self.supposed().map(|ledger| (ledger.id, question.read(ledger)));
        Column { values, supposed }
    }
}
