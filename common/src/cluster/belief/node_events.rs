//! How events about nodes change the belief. Called by [`Cluster::apply`].

use crate::cluster::{Change, Cluster, ClusterChange, Ledger, ListedKind};
use crate::model::Node;
use crate::model::ids::{NodeName, Uid};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Cluster {
    pub(super) fn node_applied(&mut self, mut node: Node, changes: &mut Vec<Change>) {
        let id = self.nodes.id(&node.name);
        let known = id.and_then(|id| self.nodes.get(id)).map(|ledger| &ledger.node);
        if known.is_some_and(|known| known.uid == node.uid && known.resource_version > node.resource_version)
        {
            return;
        }
        // Kubelets update their nodes often, and mostly nothing changes that scheduling reads.
        let old = known.filter(|known| known.uid == node.uid).cloned();
        let is_news = known.is_none_or(|known| !known.is_same_for_scheduling(&node));
        let reservations = known.map_or(&[][..], |known| &known.reservations);
        if *reservations != *node.reservations {
            changes.push(Change::ReservationsChanged(node.name.clone()));
        }
        self.interner.intern_node(&mut node);
        let (name, node) = (node.name.clone(), Arc::new(node));
        let change = is_news.then(|| ClusterChange::of_node(old, Some(Arc::clone(&node))));
        match id {
            Some(id) if is_news => self.change(id, |ledger| ledger.node = node),
            Some(id) => self.nodes.replace(id, node),
            None => {
                let id = self.nodes.insert(name.clone(), |id| Ledger::new(id, node));
                let pods = self.pods_on_unknown_nodes.remove(&name).unwrap_or_default();
                self.change(id, |ledger| pods.into_iter().for_each(|pod| ledger.add(pod)));
            }
        }
        changes.extend(change.map(Change::from));
    }

    pub(super) fn node_deleted(&mut self, name: &NodeName, uid: &Uid, changes: &mut Vec<Change>) {
        let id = self.nodes.id(name);
        if id.and_then(|id| self.nodes.get(id)).is_none_or(|known| known.node.uid != *uid) {
            return;
        }
        if let Some(ledger) = self.nodes.remove(name) {
            changes.push(ClusterChange::of_node(Some(Arc::clone(&ledger.node)), None).into());
            self.note_removed(&ledger.node.uid);
            self.next_expiry_cached = None;
            self.reservation_index.replace(ledger.id, &ledger.entries, &[]);
            self.reserved.remove(&ledger.id);
            self.pod_affinity = self.pod_affinity.without(ledger.pod_affinity);
            if !ledger.pods.is_empty() {
                self.pods_on_unknown_nodes.insert(name.clone(), ledger.pods);
            }
        }
    }

    pub(super) fn nodes_relisted(&mut self, live: Vec<Node>, changes: &mut Vec<Change>) {
        self.listed.insert(ListedKind::Nodes);
        let names: BTreeSet<&NodeName> = live.iter().map(|node| &node.name).collect();
        let vanished: Vec<Arc<Node>> = self
            .nodes
            .iter()
            .map(|ledger| &ledger.node)
            .filter(|node| !names.contains(&node.name))
            .cloned()
            .collect();
        vanished.iter().for_each(|node| self.node_deleted(&node.name, &node.uid, changes));
        live.into_iter().for_each(|node| self.node_applied(node, changes));
    }
}
