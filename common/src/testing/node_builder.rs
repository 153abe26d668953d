//! Builds nodes: `node("n1").cpu("4").taint("key=value:NoSchedule")`.

use super::{push, set, uid};
use crate::api;
use crate::model::{Node, Reservation};
use serde_json::{Value, json};

/// Builds a node from API JSON.
#[derive(Clone)]
pub(crate) struct NodeBuilder(pub(super) Value);

/// A node with 4 cpus, 16 Gi of memory and 110 pod slots.
pub(crate) fn node(name: &str) -> NodeBuilder {
    NodeBuilder(json!({
        "metadata": { "name": name, "uid": uid(name).to_string(), "resourceVersion": "1" },
        "spec": {},
        "status": { "allocatable": { "cpu": "4", "memory": "16Gi", "pods": "110" } },
    }))
}

impl NodeBuilder {
    pub(crate) fn build(&self) -> Node {
        api::node::node(&self.0.to_string()).unwrap()
    }

    /// Sets any field, by its JSON pointer.
    pub(crate) fn with(mut self, pointer: &str, value: Value) -> Self {
        set(&mut self.0, pointer, value);
        self
    }

    /// Sets the UID to [`uid`] of `name`, instead of the node's own name.
    pub(crate) fn uid(mut self, name: &str) -> Self {
        self.0["metadata"]["uid"] = json!(uid(name).to_string());
        self
    }

    pub(crate) fn version(mut self, version: u64) -> Self {
        self.0["metadata"]["resourceVersion"] = json!(version.to_string());
        self
    }

    pub(crate) fn cpu(self, amount: &str) -> Self {
        self.has("cpu", amount)
    }

    pub(crate) fn memory(self, amount: &str) -> Self {
        self.has("memory", amount)
    }

    pub(crate) fn pods(self, slots: u32) -> Self {
        self.has("pods", &slots.to_string())
    }

    pub(crate) fn has(mut self, resource: &str, amount: &str) -> Self {
        self.0["status"]["allocatable"][resource] = json!(amount);
        self
    }

    /// Tainted with `key=value:Effect` or `key:Effect`.
    pub(crate) fn taint(mut self, text: &str) -> Self {
        let (taint, effect) = text.split_once(':').unwrap();
        let (key, value) = taint.split_once('=').unwrap_or((taint, ""));
        push(&mut self.0["spec"]["taints"], json!({ "key": key, "value": value, "effect": effect }));
        self
    }

    pub(crate) fn cordoned(mut self) -> Self {
        self.0["spec"]["unschedulable"] = json!(true);
        self
    }

    pub(crate) fn annotation(mut self, key: &str, value: &str) -> Self {
        self.0["metadata"]["annotations"][key] = json!(value);
        self
    }

    /// Adds the annotations of a reservation.
    pub(crate) fn reserves(self, reservation: impl Into<Reservation>) -> Self {
        let annotations = api::reservation::encode(&reservation.into()).unwrap();
        annotations.iter().fold(self, |node, (key, value)| node.annotation(key, value))
    }
}

impl From<NodeBuilder> for Node {
    fn from(builder: NodeBuilder) -> Self {
        builder.build()
    }
}
