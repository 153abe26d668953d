//! The table of nodes: a [`NodeId`] for each, which is an index into tables and columns; and which of them changed since when.
//!
//! The id of a node that was removed is used again for a new node. Values that are kept by id therefore have to look at the
//! changes: an id whose node was added or removed counts as changed, too.

use crate::cluster::belief::intern_table::FixedHasher;
use crate::cluster::ledger::Ledger;
use crate::model::{Node, NodeName};
use hashbrown::HashTable;
use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::Arc;

/// The index of a node in tables and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

/// This many ids have a common version, so that a search for changes need not look at each id.
pub const BLOCK: usize = 64;

/// The distance between the order numbers of neighbours when a node is added at the end.
const STEP: u64 = 1 << 24;

#[derive(Debug, Default)]
pub(in crate::cluster) struct NodeTable {
    ledgers: Vec<Option<Ledger>>,
    /// Numbers that grow along node order. They are not in the ledgers, like `versions`, so that loops over them read memory in
    /// sequence.
    orders: Vec<u64>,
    /// The version at which each id last changed.
    versions: Vec<u64>,
    /// The ids in node order.
    by_name: BTreeMap<NodeName, NodeId>,
    /// The ids by name, for fast lookups.
    ids: HashTable<NodeId>,
    hasher: FixedHasher,
    vacant: Vec<NodeId>,
    /// The version at which a node of each block last changed.
    blocks: Vec<u64>,
    /// The number of changes so far.
    version: u64,
}

impl NodeId {
    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

impl NodeTable {
    pub(in crate::cluster) fn id(&self, name: &NodeName) -> Option<NodeId> {
        let is_called = |id: &NodeId| self.get(*id).is_some_and(|ledger| ledger.node.name == *name);
        self.ids.find(self.hasher.hash_one(Some(name)), is_called).copied()
    }

    pub(in crate::cluster) fn get(&self, id: NodeId) -> Option<&Ledger> {
        self.ledgers.get(id.index())?.as_ref()
    }

    /// The ledger of `id`, to be changed: `id` counts as changed.
    pub(in crate::cluster) fn change(&mut self, id: NodeId) -> Option<&mut Ledger> {
        self.touch(id);
        self.ledgers.get_mut(id.index())?.as_mut()
    }

    /// Stores a newer version of the node that differs in nothing that decisions read: `id` does not count as changed.
    pub(in crate::cluster) fn replace(&mut self, id: NodeId, node: Arc<Node>) {
        if let Some(ledger) = self.ledgers.get_mut(id.index()).and_then(Option::as_mut) {
            ledger.node = node;
        }
    }

    /// The ledgers in node order, which is the order of the names.
    pub(in crate::cluster) fn iter(&self) -> impl Iterator<Item = &Ledger> {
        self.by_name.values().filter_map(|id| self.get(*id))
    }

    pub(in crate::cluster) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// The number of ids, unused ones included.
    pub(in crate::cluster) fn id_count(&self) -> usize {
        self.ledgers.len()
    }

    /// The order number of `id`: it grows along node order.
    pub(in crate::cluster) fn order(&self, id: NodeId) -> u64 {
        self.orders.get(id.index()).copied().unwrap_or(u64::MAX)
    }

    pub(in crate::cluster) fn version(&self) -> u64 {
        self.version
    }

    pub(in crate::cluster) fn changed_since(&self, version: u64) -> impl Iterator<Item = NodeId> {
        let blocks = self.blocks.iter().enumerate().filter(move |(_, changed)| **changed > version);
        blocks.flat_map(move |(block, _)| {
            let first = block * BLOCK;
            let versions = self.versions.iter().enumerate().skip(first).take(BLOCK);
            versions.filter(move |(_, changed)| **changed > version).map(|(index, _)| NodeId::new(index))
        })
    }

    /// Adds a node that is not in the table yet.
    pub(in crate::cluster) fn insert(
        &mut self,
        name: NodeName,
        ledger: impl FnOnce(NodeId) -> Ledger,
    ) -> NodeId {
        let order = self.order_of(&name);
        let id = self.vacant.pop().unwrap_or_else(|| {
            self.ledgers.push(None);
            self.orders.push(0);
            self.versions.push(0);
            NodeId::new(self.ledgers.len() - 1)
        });
        self.ledgers[id.index()] = Some(ledger(id));
        self.orders[id.index()] = order;
        let (hasher, ledgers) = (&self.hasher, &self.ledgers);
        let hash = |id: &NodeId| {
            let ledger = ledgers.get(id.index()).and_then(Option::as_ref);
            hasher.hash_one(ledger.map(|ledger| &ledger.node.name))
        };
        self.ids.insert_unique(hasher.hash_one(Some(&name)), id, hash);
        self.by_name.insert(name, id);
        self.touch(id);
        id
    }

    pub(in crate::cluster) fn remove(&mut self, name: &NodeName) -> Option<Ledger> {
        let id = self.by_name.remove(name)?;
        if let Ok(found) = self.ids.find_entry(self.hasher.hash_one(Some(name)), |known| *known == id) {
            found.remove();
        }
        self.touch(id);
        self.vacant.push(id);
        self.ledgers.get_mut(id.index())?.take()
    }

    fn touch(&mut self, id: NodeId) {
        self.version += 1;
        let block = id.index() / BLOCK;
        if block >= self.blocks.len() {
            self.blocks.resize(block + 1, 0);
        }
        self.blocks[block] = self.version;
        if let Some(version) = self.versions.get_mut(id.index()) {
            *version = self.version;
        }
    }

    /// An order number between those of the neighbours of `name`; when there is none left, all nodes get new numbers.
    fn order_of(&mut self, name: &NodeName) -> u64 {
        let neighbour = |id: Option<&NodeId>| id.map(|id| self.order(*id));
        let before = neighbour(self.by_name.range(..name).next_back().map(|(_, id)| id)).unwrap_or(0);
        let after = neighbour(self.by_name.range(name..).next().map(|(_, id)| id));
        match after {
            None => before + STEP,
            Some(after) if after - before > 1 => before + (after - before) / 2,
            Some(_) => {
                self.renumber();
                self.order_of(name)
            }
        }
    }

    fn renumber(&mut self) {
        let ids: Vec<NodeId> = self.by_name.values().copied().collect();
        for (rank, id) in (1_u64..).zip(ids) {
            if let Some(order) = self.orders.get_mut(id.index()) {
                *order = rank * STEP;
            }
            // Values that were computed from the old order numbers are out of date.
            self.touch(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, NodeId, NodeTable};
    use crate::cluster::ledger::Ledger;
    use crate::model::NodeName;
    use crate::testing::node;
    use std::sync::Arc;

    fn add(nodes: &mut NodeTable, name: &str) -> NodeId {
        nodes.insert(NodeName::from(name), |id| Ledger::new(id, Arc::new(node(name).build())))
    }

    fn names(nodes: &NodeTable) -> Vec<String> {
        nodes.iter().map(|ledger| ledger.node.name.to_string()).collect()
    }

    #[test]
    fn node_order_is_that_of_the_names_however_they_come() {
        let mut nodes = NodeTable::default();
        // Each node halves the distance to the first one, until there is none left.
        for number in (10..90).rev() {
            add(&mut nodes, &format!("n{number}"));
        }
        add(&mut nodes, "n10a");
        let orders: Vec<u64> = nodes.iter().map(|ledger| nodes.order(ledger.id)).collect();
        assert!(orders.is_sorted_by(|one, next| one < next), "{orders:?}");
        assert!(names(&nodes).is_sorted() && nodes.len() == 81);
    }

    #[test]
    fn a_place_is_used_again_and_counts_as_changed() {
        let mut nodes = NodeTable::default();
        let (a, b) = (add(&mut nodes, "a"), add(&mut nodes, "b"));
        let before = nodes.version();
        assert_eq!(nodes.changed_since(before).count(), 0);
        nodes.remove(&"a".into());
        assert_eq!(nodes.changed_since(before).collect::<Vec<_>>(), [a]);
        assert!(nodes.get(a).is_none() && nodes.id(&"a".into()).is_none());
        assert_eq!(add(&mut nodes, "c"), a);
        assert_eq!((names(&nodes), nodes.id_count()), (vec!["b".into(), "c".into()], 2));
        let before = nodes.version();
        nodes.change(b);
        assert_eq!(nodes.changed_since(before).collect::<Vec<_>>(), [b]);
    }

    #[test]
    fn changes_are_found_across_blocks() {
        let mut nodes = NodeTable::default();
        let ids: Vec<NodeId> =
            (0..3 * BLOCK).map(|number| add(&mut nodes, &format!("n{number:04}"))).collect();
        assert_eq!(nodes.changed_since(0).count(), 3 * BLOCK);
        let before = nodes.version();
        let touched = [ids[1], ids[BLOCK], ids[3 * BLOCK - 1]];
        for id in touched.iter().rev() {
            assert!(nodes.change(*id).is_some());
        }
        assert_eq!(nodes.changed_since(before).collect::<Vec<_>>(), touched);
    }
}
