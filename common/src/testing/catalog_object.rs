//! A builder of catalog objects: `claim("data").class("fast").bound_to("pv1")`.

use super::{now, push, uid};
use crate::api;
use crate::model::catalog_object::{CatalogKind, CatalogObject};
use serde_json::{Value, json};

/// Builds an object of one of the kinds in the catalog from API JSON.
#[derive(Clone)]
pub(crate) struct CatalogObjectBuilder {
    kind: CatalogKind,
    json: Value,
}

fn object(kind: CatalogKind, name: &str, namespace: &str) -> CatalogObjectBuilder {
    let meta = json!({
        "name": name, "namespace": namespace, "uid": uid(&format!("{kind}/{namespace}/{name}")).to_string(),
        "resourceVersion": "1",
    });
    CatalogObjectBuilder { kind, json: json!({ "metadata": meta }) }
}

/// A claim for 1 Gi in the namespace `default`, without a class.
pub(crate) fn claim(name: &str) -> CatalogObjectBuilder {
    let claim = object(CatalogKind::PersistentVolumeClaim, name, "default").size("1Gi");
    claim.set("/status/phase", json!("Pending")).modes(&["ReadWriteOnce"])
}

/// A volume of 1 Gi that is free to be claimed, without a class.
pub(crate) fn volume(name: &str) -> CatalogObjectBuilder {
    let volume = object(CatalogKind::PersistentVolume, name, "").size("1Gi");
    volume.set("/status/phase", json!("Available")).modes(&["ReadWriteOnce"])
}

/// A class of a provisioner called `csi.example.com` that waits for the first consumer.
pub(crate) fn storage_class(name: &str) -> CatalogObjectBuilder {
    let class = object(CatalogKind::StorageClass, name, "").set("/provisioner", json!("csi.example.com"));
    class.set("/volumeBindingMode", json!("WaitForFirstConsumer"))
}

/// A quota in the namespace `default`.
pub(crate) fn resource_quota(name: &str, hard: Value) -> CatalogObjectBuilder {
    object(CatalogKind::ResourceQuota, name, "default").set("/spec/hard", hard)
}

/// A CSINode without drivers.
pub(crate) fn csi_node(name: &str) -> CatalogObjectBuilder {
    object(CatalogKind::CsiNode, name, "")
}

/// A CSIDriver that does not report its capacity.
pub(crate) fn csi_driver(name: &str) -> CatalogObjectBuilder {
    object(CatalogKind::CsiDriver, name, "")
}

/// A CSIStorageCapacity of 1 Gi of a class, on all nodes.
pub(crate) fn csi_capacity(name: &str, class: &str) -> CatalogObjectBuilder {
    let capacity = object(CatalogKind::CsiStorageCapacity, name, "kube-system").class(class).size("1Gi");
    capacity.set("/nodeTopology", json!({}))
}

/// A volume that is attached to a node by `csi.example.com`.
pub(crate) fn attachment(name: &str, volume: &str, node: &str) -> CatalogObjectBuilder {
    let spec = json!({ "attacher": "csi.example.com", "nodeName": node, "source": { "persistentVolumeName": volume } });
    object(CatalogKind::VolumeAttachment, name, "").set("/spec", spec)
}

/// A service in the namespace `default` that selects nothing.
pub(crate) fn service(name: &str) -> CatalogObjectBuilder {
    object(CatalogKind::Service, name, "default")
}

/// A budget in the namespace `default` that protects nothing and allows nothing.
pub(crate) fn budget(name: &str) -> CatalogObjectBuilder {
    object(CatalogKind::PodDisruptionBudget, name, "default")
}

/// A namespace without labels.
pub(crate) fn namespace(name: &str) -> CatalogObjectBuilder {
    object(CatalogKind::Namespace, name, "")
}

impl CatalogObjectBuilder {
    /// The object as `T`, which must be its type.
    pub(crate) fn build<T: TryFrom<CatalogObject>>(&self) -> T {
        let object = api::catalog_object::catalog_object(self.kind, &self.json.to_string()).unwrap();
        T::try_from(object).ok().unwrap()
    }

    /// Sets any field, by its JSON pointer.
    pub(crate) fn set(mut self, pointer: &str, value: Value) -> Self {
        let parts = pointer.split('/').skip(1);
        *parts.fold(&mut self.json, |target, part| &mut target[part.replace("~1", "/")]) = value;
        self
    }

    pub(crate) fn namespace(self, namespace: &str) -> Self {
        self.set("/metadata/namespace", json!(namespace))
    }

    /// Sets the UID to [`uid`] of `name`, instead of the object's own name.
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
        let field = if self.kind == CatalogKind::CsiStorageCapacity { "" } else { "/spec" };
        self.set(&format!("{field}/storageClassName"), json!(name))
    }

    /// The size that a claim requests, that a volume has, or that a capacity has left.
    pub(crate) fn size(self, amount: &str) -> Self {
        let field = match self.kind {
            CatalogKind::PersistentVolumeClaim => "/spec/resources/requests/storage",
            CatalogKind::PersistentVolume => "/spec/capacity/storage",
            _ => "/capacity",
        };
        self.set(field, json!(amount))
    }

    /// The access modes of a claim or a volume.
    pub(crate) fn modes(self, modes: &[&str]) -> Self {
        self.set("/spec/accessModes", json!(modes))
    }

    /// Makes a claim bound to `volume`.
    pub(crate) fn bound_to(self, volume: &str) -> Self {
        let claim = self.set("/spec/volumeName", json!(volume)).set("/status/phase", json!("Bound"));
        claim.annotation("pv.kubernetes.io/bind-completed", "yes")
    }

    /// Makes a volume bound to the claim in the namespace `default`.
    pub(crate) fn claimed_by(self, claim: &str) -> Self {
        let uid = uid(&format!("PersistentVolumeClaim/default/{claim}")).to_string();
        let volume = self.set("/spec/claimRef", json!({ "namespace": "default", "name": claim, "uid": uid }));
        volume.set("/status/phase", json!("Bound"))
    }

    /// Makes a volume one of a CSI driver.
    pub(crate) fn csi(self, driver: &str, handle: &str) -> Self {
        self.set("/spec/csi", json!({ "driver": driver, "volumeHandle": handle }))
    }

    /// Makes a volume that only nodes with this label can use.
    pub(crate) fn on_nodes(self, key: &str, value: &str) -> Self {
        let term = json!({ "matchExpressions": [{ "key": key, "operator": "In", "values": [value] }] });
        self.set("/spec/nodeAffinity/required/nodeSelectorTerms", json!([term]))
    }

    /// Adds a driver to a CSINode, and how many volumes it can attach there.
    pub(crate) fn driver(mut self, name: &str, limit: u32) -> Self {
        let driver = json!({ "name": name, "nodeID": "x", "allocatable": { "count": limit } });
        push(&mut self.json["spec"]["drivers"], driver);
        self
    }

    /// The labels by which a Service or a PodDisruptionBudget selects pods.
    pub(crate) fn selector<const N: usize>(self, labels: [(&str, &str); N]) -> Self {
        let labels: Value = labels.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect();
        match self.kind {
            CatalogKind::Service => self.set("/spec/selector", labels),
            _ => self.set("/spec/selector/matchLabels", labels),
        }
    }

    /// How many more disruptions a PodDisruptionBudget allows.
    pub(crate) fn allows(self, disruptions: i32) -> Self {
        self.set("/status/disruptionsAllowed", json!(disruptions))
    }
}

impl From<CatalogObjectBuilder> for CatalogObject {
    fn from(builder: CatalogObjectBuilder) -> Self {
        builder.build()
    }
}
