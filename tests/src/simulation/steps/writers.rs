//! Random changes of nodes: annotations, cordons, an autoscaler, and nodes that are not ready or lose resources.

use super::api::Actor;
use super::sim::Sim;
use common::api::names;
use common::model::{Node, NodeName};
use std::collections::BTreeMap;

impl Sim {
    /// Replaces the annotations of a node with those that `alter` makes of them, without a precondition.
    pub(super) fn annotate_node(
        &mut self,
        node: &NodeName,
        alter: impl FnOnce(&mut BTreeMap<String, String>),
    ) {
        let mut annotations = self.api.annotations.get(node).cloned().unwrap_or_default();
        alter(&mut annotations);
        let _ = self.api.annotate(Actor::Other, node, annotations);
    }

    pub(super) fn annotate_foreign(&mut self) {
        let Some(node) = self.some_node() else { return };
        let value = self.api.number().to_string();
        self.annotate_node(&node.name, |all| drop(all.insert("example.com/heartbeat".into(), value)));
    }

    /// Another program replaces a node, and so removes all annotations.
    pub(super) fn wipe(&mut self) {
        if let Some(node) = self.some_node().filter(|_| self.rng.bool()) {
            self.annotate_node(&node.name, BTreeMap::clear);
        }
    }

    pub(super) fn annotate_garbage(&mut self) {
        let Some(node) = self.some_node() else { return };
        let uid = self.api.uid();
        let garbage = [
            (format!("{}/{uid}", names::CPU), "many"),
            (format!("{}/{uid}.a", names::CPU), "1e99"),
            (format!("{}/{uid}.a", names::INFO), "{\"v\":1"),
            (format!("{}/no-uid", names::MEMORY), "1Gi"),
            (format!("{}/{uid}.b", names::INFO), "{\"v\":7,\"expires\":\"never\"}"),
            (format!("{}gpu/{uid}", names::NODE_PREFIX), "1"),
        ];
        let (key, value) = garbage[self.rng.usize(0..garbage.len())].clone();
        self.annotate_node(&node.name, |all| drop(all.insert(key, value.to_owned())));
    }

    /// A user reserves in the plain form, or releases that.
    pub(super) fn reserve_plainly(&mut self) {
        let Some(node) = self.some_node() else { return };
        let Some(owner) = self.some_workload(|one| one.controller.is_none()) else { return };
        let key = format!("{}/{}", names::CPU, owner.uid);
        self.annotate_node(&node.name, |all| {
            if all.remove(&key).is_none() {
                all.insert(key, "500m".into());
            }
        });
    }

    pub(super) fn cordon(&mut self) {
        let Some(node) = self.some_node() else { return };
        let unschedulable = !node.unschedulable;
        self.api.note(format_args!("{} cordoned: {unschedulable}", node.name));
        self.api.put_node(Actor::Other, Node { unschedulable, ..Node::clone(&node) });
    }

    /// The autoscaler adds, removes or replaces a node; a replaced node has the same name.
    pub(super) fn autoscale(&mut self) {
        match self.rng.u32(0..3) {
            0 => {
                let name = format!("n{}", self.rng.u32(0..6));
                if !self.api.state.nodes.contains_key(&NodeName::from(name.as_str())) {
                    self.add_node(&name, 4);
                }
            }
            1 if self.api.state.nodes.len() > 2 => {
                if let Some(node) = self.some_node() {
                    self.api.remove_node(&node.name);
                }
            }
            _ if self.api.state.nodes.len() > 2 => {
                if let Some(node) = self.some_node() {
                    self.api.remove_node(&node.name);
                    self.add_node(node.name.as_str(), 4);
                }
            }
            _ => {}
        }
    }

    /// A node changes its readiness or its allocatable CPU.
    pub(super) fn disturb_node(&mut self) {
        let Some(node) = self.some_node() else { return };
        let mut next = Node::clone(&node);
        if self.rng.bool() {
            next.is_ready = !next.is_ready;
        } else {
            next.allocatable.cpu = if next.allocatable.cpu > 3_000 { 2_500 } else { 4_000 };
        }
        self.api.note(format_args!("{}: ready {}, {}m", next.name, next.is_ready, next.allocatable.cpu));
        self.api.put_node(Actor::Other, next);
    }
}
