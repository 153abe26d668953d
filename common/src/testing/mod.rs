//! Builders for tests: `pod("web-1").cpu("500m").on("n1").owned_by(&set)`.
//!
//! Pods and nodes are built as API JSON and go through the real decoders.

mod catalog_object;
mod cluster_builder;
mod daemon_set;
mod node_builder;
mod optional_fields;
mod plugin_answers;
mod reservation;
mod test_cluster;

pub(crate) use catalog_object::{
    CatalogObjectBuilder, attachment, budget, claim, csi_capacity, csi_driver, csi_node, namespace,
    resource_quota, service, storage_class, volume,
};
pub(crate) use cluster_builder::{ClusterBuilder, cluster_builder, entry};
pub(crate) use daemon_set::daemon_set;
pub(crate) use node_builder::{NodeBuilder, node};
pub(crate) use plugin_answers::{
    admission, all_reasons, all_rejections, raw_and_scores, reasons, rejections, scores,
};
pub(crate) use reservation::{ReservationBuilder, bare_reservation, plain, reservation};
pub(crate) use test_cluster::{RandomChoices, TestCluster, maybe, some_pod, verdicts};

use crate::api;
use crate::model::{ControllerRef, OwnerKind, Pod, Uid, Workload};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// Builds a pod from API JSON.
#[derive(Clone)]
pub(crate) struct PodBuilder(Value);

/// The current time of tests.
pub(crate) fn now() -> Timestamp {
    at(0)
}

/// The time so many seconds after [`now`].
pub(crate) fn at(seconds: i64) -> Timestamp {
    let noon: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
    noon + SignedDuration::from_secs(seconds)
}

/// A UID as the API server makes them, always the same one for `name`.
pub(crate) fn uid(name: &str) -> Uid {
    let hash = |seed: u64| {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        name.bytes().fold(0xcbf2_9ce4_8422_2325 ^ seed, step)
    };
    let hex = format!("{:016x}{:016x}", hash(1), hash(2));
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    Uid::from(parts.join("-"))
}

/// A pod in the namespace `default` that asks for nothing.
pub(crate) fn pod(name: &str) -> PodBuilder {
    PodBuilder(json!({
        "metadata": { "name": name, "namespace": "default", "uid": uid(name).to_string(), "resourceVersion": "1" },
        "spec": { "containers": [{ "name": "main" }] },
        "status": {},
    }))
}

/// A Deployment in the namespace `default`.
pub(crate) fn deployment(name: &str) -> Workload {
    workload(OwnerKind::Deployment, name)
}

/// A ReplicaSet in the namespace `default`.
pub(crate) fn replica_set(name: &str) -> Workload {
    workload(OwnerKind::ReplicaSet, name)
}

/// A workload in the namespace `default`.
pub(crate) fn workload(kind: OwnerKind, name: &str) -> Workload {
    Workload {
        kind,
        foreign: None,
        namespace: "default".into(),
        name: name.into(),
        uid: uid(&format!("{kind}/{name}")),
        resource_version: 1,
        controller: None,
        selector: None,
        desired_pods: None,
        is_deleting: false,
        keep: None,
        daemon: None,
    }
}

pub(crate) fn reference_to(owner: &Workload) -> ControllerRef {
    ControllerRef {
        kind: owner.foreign.is_none().then_some(owner.kind),
        foreign: owner.foreign.clone(),
        name: owner.name.clone(),
        uid: owner.uid.clone(),
    }
}

impl Workload {
    /// The same, controlled by `owner`.
    pub(crate) fn of(mut self, owner: &Workload) -> Self {
        self.controller = Some(reference_to(owner));
        self
    }

    /// The same in another namespace.
    pub(crate) fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = namespace.into();
        self
    }
}

impl PodBuilder {
    pub(crate) fn build(&self) -> Pod {
        api::pod::pod(&self.0.to_string()).unwrap()
    }

    /// Sets any field, by its JSON pointer.
    pub(crate) fn with(mut self, pointer: &str, value: Value) -> Self {
        set(&mut self.0, pointer, value);
        self
    }

    pub(crate) fn namespace(self, namespace: &str) -> Self {
        self.with("/metadata/namespace", json!(namespace))
    }

    /// Sets the UID to [`uid`] of `name`, instead of the pod's own name.
    pub(crate) fn uid(self, name: &str) -> Self {
        self.with("/metadata/uid", json!(uid(name).to_string()))
    }

    pub(crate) fn version(self, version: u64) -> Self {
        self.with("/metadata/resourceVersion", json!(version.to_string()))
    }

    pub(crate) fn cpu(self, amount: &str) -> Self {
        self.asks("cpu", amount)
    }

    pub(crate) fn memory(self, amount: &str) -> Self {
        self.asks("memory", amount)
    }

    pub(crate) fn asks(self, resource: &str, amount: &str) -> Self {
        let resource = resource.replace('/', "~1");
        self.with(&format!("/spec/containers/0/resources/requests/{resource}"), json!(amount))
    }

    /// Bound to the node at an unknown time.
    pub(crate) fn on(self, node: &str) -> Self {
        let bound = if self.0["status"]["conditions"].is_null() { self.condition() } else { self };
        bound.with("/spec/nodeName", json!(node))
    }

    /// Created with `spec.nodeName`, and not accepted by the kubelet yet.
    pub(crate) fn created_on(self, node: &str) -> Self {
        self.with("/spec/nodeName", json!(node))
    }

    fn condition(self) -> Self {
        self.with("/status/conditions", json!([{ "type": "PodScheduled", "status": "True" }]))
    }

    pub(crate) fn owned_by(self, owner: &Workload) -> Self {
        let group = owner.kind.group();
        let version = if group.is_empty() { "v1".to_owned() } else { format!("{group}/v1") };
        let (version, kind) = match &owner.foreign {
            Some(foreign) => (foreign.api_version.to_string(), foreign.kind.to_string()),
            None => (version, owner.kind.to_string()),
        };
        let reference = json!({
            "apiVersion": version, "kind": kind, "name": &*owner.name, "uid": owner.uid.to_string(),
            "controller": true,
        });
        self.with("/metadata/ownerReferences", json!([reference]))
    }

    pub(crate) fn scheduler(self, name: &str) -> Self {
        self.with("/spec/schedulerName", json!(name))
    }

    pub(crate) fn priority(self, priority: i32) -> Self {
        self.with("/spec/priority", json!(priority))
    }

    /// Tolerates `key=value:Effect`; without a value any value, without an effect any effect.
    pub(crate) fn tolerates(mut self, text: &str) -> Self {
        let (taint, effect) = text.split_once(':').unwrap_or((text, ""));
        let (key, value, operator) = match taint.split_once('=') {
            Some((key, value)) => (key, value, "Equal"),
            None => (taint, "", "Exists"),
        };
        let toleration = json!({ "key": key, "value": value, "operator": operator, "effect": effect });
        push(&mut self.0["spec"]["tolerations"], toleration);
        self
    }

    pub(crate) fn stamp(self, stamp: &(impl ToString + ?Sized)) -> Self {
        self.with("/metadata/annotations/reserve~1seat", json!(stamp.to_string()))
    }

    pub(crate) fn scheduled_at(self, time: Timestamp) -> Self {
        let condition =
            json!({ "type": "PodScheduled", "status": "True", "lastTransitionTime": time.to_string() });
        self.with("/status/conditions", json!([condition]))
    }

    pub(crate) fn terminating(self) -> Self {
        self.with("/metadata/deletionTimestamp", json!(now().to_string()))
    }

    pub(crate) fn phase(self, phase: &str) -> Self {
        self.with("/status/phase", json!(phase))
    }
}

fn set(object: &mut Value, pointer: &str, value: Value) {
    let target = pointer.split('/').skip(1).fold(object, |target, part| match part.parse::<usize>() {
        Ok(index) => {
            if target.as_array().is_some_and(|list| list.len() == index) {
                push(target, Value::Null);
            }
            &mut target[index]
        }
        Err(_) => &mut target[part.replace("~1", "/")],
    });
    *target = value;
}

fn push(list: &mut Value, item: Value) {
    if list.is_null() {
        *list = json!([]);
    }
    list.as_array_mut().unwrap().push(item);
}

impl From<PodBuilder> for Pod {
    fn from(builder: PodBuilder) -> Self {
        builder.build()
    }
}
