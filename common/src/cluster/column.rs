//! A value for each node that follows from that node's books alone: worked out once, and again where they change.

use super::ledger::Ledger;
use super::nodes::NodeId;
use super::snapshot::Snapshot;
use std::hash::Hash;
use std::sync::Arc;

/// A question that the books of each node answer by themselves. What differs between two questions of one type is in
/// the fields, by which they are told apart.
pub trait PerNode: Hash + Eq + Clone + Send + 'static {
    /// The answer; the default where there is no node.
    type Value: Default + Clone + Send + Sync + 'static;

    /// Reads the answer off the books.
    fn read(&self, ledger: &Ledger) -> Self::Value;
}

/// The answers of all nodes.
#[derive(Clone, Debug)]
pub struct Column<V> {
    values: Arc<Vec<V>>,
    /// The answer of the one node that is supposed to be otherwise.
    supposed: Option<(NodeId, V)>,
}

impl<V: Default> Column<V> {
    /// The answer of `node`; `None` for a node that came later.
    pub fn get(&self, node: NodeId) -> Option<&V> {
        match &self.supposed {
            Some((supposed, value)) if *supposed == node => Some(value),
            _ => self.values.get(node.index()),
        }
    }

    /// All answers with their nodes' places; vacant places have the default.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &V)> {
        let ids = (0..self.values.len()).map(NodeId::new);
        ids.filter_map(|id| self.get(id).map(|value| (id, value)))
    }
}

impl Snapshot<'_> {
    /// The answers of all nodes to `question`.
    pub fn column<Q: PerNode>(&self, question: &Q) -> Column<Q::Value> {
        let values = self.derive(question.clone(), |values: &mut Vec<Q::Value>, changed| {
            values.resize(self.places(), Q::Value::default());
            for id in changed {
                let answer = self.believed(id).map(|ledger| question.read(ledger));
                if let Some(place) = values.get_mut(id.index()) {
                    *place = answer.unwrap_or_default();
                }
            }
        });
        let supposed = self.supposed().map(|ledger| (ledger.id, question.read(ledger)));
        Column { values, supposed }
    }
}
