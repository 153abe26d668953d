//! When to check each node again although nothing changed there, indexed by time: a step must not iterate over thousands of nodes
//! with reservations.

use common::cluster::NodeId;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct NodeResyncs {
    at: BTreeMap<NodeId, Timestamp>,
    order: BTreeSet<(Timestamp, NodeId)>,
}

impl NodeResyncs {
    pub(super) fn insert(&mut self, id: NodeId, at: Timestamp) {
        self.remove(id);
        self.at.insert(id, at);
        self.order.insert((at, id));
    }

    /// Sets the time of the node, unless it has an earlier one.
    pub(super) fn insert_earlier(&mut self, id: NodeId, at: Timestamp) {
        let at = self.at.get(&id).map_or(at, |before| at.min(*before));
        self.insert(id, at);
    }

    pub(super) fn remove(&mut self, id: NodeId) {
        if let Some(at) = self.at.remove(&id) {
            self.order.remove(&(at, id));
        }
    }

    pub(super) fn contains(&self, id: NodeId) -> bool {
        self.at.contains_key(&id)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = NodeId> {
        self.at.keys().copied()
    }

    pub(super) fn due_by(&self, now: Timestamp) -> impl Iterator<Item = NodeId> {
        self.order.iter().take_while(move |(at, _)| *at <= now).map(|(_, id)| *id)
    }

    pub(super) fn first(&self) -> Option<Timestamp> {
        self.order.first().map(|(at, _)| *at)
    }
}
