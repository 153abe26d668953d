//! When to look at each node again although nothing happened there, in the order of time: with thousands of reserved nodes nobody
//! goes through all of them at each step.

use common::cluster::NodeId;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// The nodes to look at again.
#[derive(Default)]
pub(super) struct Due {
    at: BTreeMap<NodeId, Timestamp>,
    order: BTreeSet<(Timestamp, NodeId)>,
}

impl Due {
    /// Looks at the node then, whatever was said before.
    pub(super) fn insert(&mut self, id: NodeId, at: Timestamp) {
        self.remove(id);
        self.at.insert(id, at);
        self.order.insert((at, id));
    }

    /// Looks at the node then, or at the time that was said before if that is earlier.
    pub(super) fn insert_earlier(&mut self, id: NodeId, at: Timestamp) {
        let at = self.at.get(&id).map_or(at, |before| at.min(*before));
        self.insert(id, at);
    }

    /// Looks at the node no more.
    pub(super) fn remove(&mut self, id: NodeId) {
        if let Some(at) = self.at.remove(&id) {
            self.order.remove(&(at, id));
        }
    }

    pub(super) fn contains(&self, id: NodeId) -> bool {
        self.at.contains_key(&id)
    }

    /// All nodes.
    pub(super) fn all(&self) -> impl Iterator<Item = NodeId> {
        self.at.keys().copied()
    }

    /// Those to look at by `now`.
    pub(super) fn by(&self, now: Timestamp) -> impl Iterator<Item = NodeId> {
        self.order.iter().take_while(move |(at, _)| *at <= now).map(|(_, id)| *id)
    }

    /// When to look at the first of them.
    pub(super) fn first(&self) -> Option<Timestamp> {
        self.order.first().map(|(at, _)| *at)
    }
}
