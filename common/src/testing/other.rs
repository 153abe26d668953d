//! Objects of other kinds in the making: `claim("data").class("fast").bound_to("pv1")`.

use super::{now, push, uid};
use crate::api;
use crate::model::other::{Other, OtherKind};
use serde_json::{Value, json};

/// An object of any of the other kinds.
#[derive(Clone)]
pub(crate) struct OtherBuilder {
    kind: OtherKind,
    json: Value,
}

fn made(kind: OtherKind, name: &str, namespace: &str) -> OtherBuilder {
    let meta = json!({
        "name": name, "namespace": namespace, "uid": uid(&format!("{kind}/{namespace}/{name}")).to_string(),
        "resourceVersion": "1",
    });
    OtherBuilder { kind, json: json!({ "metadata": meta }) }
}

/// A claim for 1 Gi in the namespace `default`, without a class.
pub(crate) fn claim(name: &str) -> OtherBuilder {
    let claim = made(OtherKind::PersistentVolumeClaim, name, "default").size("1Gi");
    claim.set("/status/phase", json!("Pending")).modes(&["ReadWriteOnce"])
}

/// A volume of 1 Gi that is free to be claimed, without a class.
pub(crate) fn volume(name: &str) -> OtherBuilder {
    let volume = made(OtherKind::PersistentVolume, name, "").size("1Gi");
    volume.set("/status/phase", json!("Available")).modes(&["ReadWriteOnce"])
}

/// A class of a provisioner called `csi.example.com` that waits for the first consumer.
pub(crate) fn storage_class(name: &str) -> OtherBuilder {
    let class = made(OtherKind::StorageClass, name, "").set("/provisioner", json!("csi.example.com"));
    class.set("/volumeBindingMode", json!("WaitForFirstConsumer"))
}

/// A quota in the namespace `default`.
pub(crate) fn resource_quota(name: &str, hard: Value) -> OtherBuilder {
    made(OtherKind::ResourceQuota, name, "default").set("/spec/hard", hard)
}

/// What a node has of drivers: none.
pub(crate) fn csi_node(name: &str) -> OtherBuilder {
    made(OtherKind::CsiNode, name, "")
}

/// A driver that does not say how much it has left.
pub(crate) fn csi_driver(name: &str) -> OtherBuilder {
    made(OtherKind::CsiDriver, name, "")
}

/// 1 Gi left of a class, on all nodes.
pub(crate) fn csi_capacity(name: &str, class: &str) -> OtherBuilder {
    let capacity = made(OtherKind::CsiStorageCapacity, name, "kube-system").class(class).size("1Gi");
    capacity.set("/nodeTopology", json!({}))
}

/// A volume that is attached to a node by `csi.example.com`.
pub(crate) fn attachment(name: &str, volume: &str, node: &str) -> OtherBuilder {
    let spec = json!({ "attacher": "csi.example.com", "nodeName": node, "source": { "persistentVolumeName": volume } });
    made(OtherKind::VolumeAttachment, name, "").set("/spec", spec)
}

/// A service in the namespace `default` that selects nothing.
pub(crate) fn service(name: &str) -> OtherBuilder {
    made(OtherKind::Service, name, "default")
}

/// A budget in the namespace `default` that protects nothing and allows nothing.
pub(crate) fn budget(name: &str) -> OtherBuilder {
    made(OtherKind::PodDisruptionBudget, name, "default")
}

/// A namespace without labels.
pub(crate) fn namespace(name: &str) -> OtherBuilder {
    made(OtherKind::Namespace, name, "")
}

impl OtherBuilder {
    /// As the type that it is of.
    pub(crate) fn build<T: TryFrom<Other>>(&self) -> T {
        let other = api::other::other(self.kind, &self.json.to_string()).unwrap();
        T::try_from(other).ok().unwrap()
    }

    /// Sets any field, by its JSON pointer.
    pub(crate) fn set(mut self, pointer: &str, value: Value) -> Self {
        let parts = pointer.split('/').skip(1);
        *parts.fold(&mut self.json, |place, part| &mut place[part.replace("~1", "/")]) = value;
        self
    }

    pub(crate) fn namespace(self, namespace: &str) -> Self {
        self.set("/metadata/namespace", json!(namespace))
    }

    /// The UID that belongs to this name instead of to the object's own.
    pub(crate) fn uid(self, name: &str) -> Self {
        self.set("/metadata/uid", json!(uid(name).to_string()))
    }

    pub(crate) fn version(self, version: u64) -> Self {
        self.set("/metadata/resourceVersion", json!(version.to_string()))
    }

    pub(crate) fn terminating(self) -> Self {
        self.set("/metadata/deletionTimestamp", json!(now().to_string()))
    }

    pub(crate) fn annotation(self, key: &str, value: &str) -> Self {
        self.set(&format!("/metadata/annotations/{}", key.replace('/', "~1")), json!(value))
    }

    pub(crate) fn label(self, key: &str, value: &str) -> Self {
        self.set(&format!("/metadata/labels/{}", key.replace('/', "~1")), json!(value))
    }

    /// The storage class of a claim, a volume or a capacity.
    pub(crate) fn class(self, name: &str) -> Self {
        let field = if self.kind == OtherKind::CsiStorageCapacity { "" } else { "/spec" };
        self.set(&format!("{field}/storageClassName"), json!(name))
    }

    /// What a claim asks for, a volume has, or is left of a class.
    pub(crate) fn size(self, amount: &str) -> Self {
        let field = match self.kind {
            OtherKind::PersistentVolumeClaim => "/spec/resources/requests/storage",
            OtherKind::PersistentVolume => "/spec/capacity/storage",
            _ => "/capacity",
        };
        self.set(field, json!(amount))
    }

    /// The access modes of a claim or a volume.
    pub(crate) fn modes(self, modes: &[&str]) -> Self {
        self.set("/spec/accessModes", json!(modes))
    }

    /// A claim that has its volume.
    pub(crate) fn bound_to(self, volume: &str) -> Self {
        let claim = self.set("/spec/volumeName", json!(volume)).set("/status/phase", json!("Bound"));
        claim.annotation("pv.kubernetes.io/bind-completed", "yes")
    }

    /// A volume that has its claim, in the namespace `default`.
    pub(crate) fn claimed_by(self, claim: &str) -> Self {
        let uid = uid(&format!("PersistentVolumeClaim/default/{claim}")).to_string();
        let volume = self.set("/spec/claimRef", json!({ "namespace": "default", "name": claim, "uid": uid }));
        volume.set("/status/phase", json!("Bound"))
    }

    /// A volume of a driver.
    pub(crate) fn csi(self, driver: &str, handle: &str) -> Self {
        self.set("/spec/csi", json!({ "driver": driver, "volumeHandle": handle }))
    }

    /// A volume that only nodes with this label reach.
    pub(crate) fn on_nodes(self, key: &str, value: &str) -> Self {
        let term = json!({ "matchExpressions": [{ "key": key, "operator": "In", "values": [value] }] });
        self.set("/spec/nodeAffinity/required/nodeSelectorTerms", json!([term]))
    }

    /// A driver that a node has, and how many volumes it can attach there.
    pub(crate) fn driver(mut self, name: &str, limit: u32) -> Self {
        let driver = json!({ "name": name, "nodeID": "x", "allocatable": { "count": limit } });
        push(&mut self.json["spec"]["drivers"], driver);
        self
    }

    /// The labels that a service selects by, or a budget.
    pub(crate) fn selector<const N: usize>(self, labels: [(&str, &str); N]) -> Self {
        let labels: Value = labels.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect();
        match self.kind {
            OtherKind::Service => self.set("/spec/selector", labels),
            _ => self.set("/spec/selector/matchLabels", labels),
        }
    }

    /// How many more pods a budget lets go.
    pub(crate) fn allows(self, disruptions: i32) -> Self {
        self.set("/status/disruptionsAllowed", json!(disruptions))
    }
}

impl From<OtherBuilder> for Other {
    fn from(builder: OtherBuilder) -> Self {
        builder.build()
    }
}
