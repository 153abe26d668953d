//! Reduces an object to what a saved snapshot may contain: the fields that our decoders read. Values of environment variables,
//! secrets, managed fields and other programs' annotations are left out. Entry point: [`redacted`].

use super::Resource;
use common::api::names;
use common::model::{CatalogKind, OwnerKind};
use serde_json::{Map, Value};

/// Fields that are kept of every object.
const META: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "metadata.resourceVersion",
    "metadata.generation",
    "metadata.creationTimestamp",
    "metadata.deletionTimestamp",
    "metadata.labels",
    "metadata.annotations",
    "metadata.ownerReferences",
];

const POD: &[&str] = &[
    "spec.nodeName",
    "spec.schedulerName",
    "spec.priority",
    "spec.priorityClassName",
    "spec.preemptionPolicy",
    "spec.tolerations",
    "spec.containers",
    "spec.initContainers",
    "spec.overhead",
    "spec.resources",
    "spec.nodeSelector",
    "spec.affinity",
    "spec.volumes",
    "spec.topologySpreadConstraints",
    "spec.schedulingGates",
    "spec.resourceClaims",
    "spec.schedulingGroup",
    "spec.hostNetwork",
    "spec.hostUsers",
    "status.phase",
    "status.reason",
    "status.message",
    "status.startTime",
    "status.nominatedNodeName",
    "status.conditions",
    "status.containerStatuses",
    "status.initContainerStatuses",
    "status.resources",
    "status.allocatedResources",
];

/// Fields that are kept of each container: its requests, never its command, its variables or the sources of its mounts.
const CONTAINER: &[&str] = &[
    "name",
    "image",
    "resources",
    "ports",
    "restartPolicy",
    "restartPolicyRules.action",
    "volumeMounts.bindMountOptions",
];

const CONTAINER_STATUS: &[&str] = &["name", "ready", "state", "resources", "allocatedResources"];

const NODE: &[&str] = &[
    "spec.unschedulable",
    "spec.taints",
    "status.allocatable",
    "status.conditions",
    "status.images",
    "status.declaredFeatures",
];

const WORKLOAD: &[&str] = &[
    "spec.replicas",
    "spec.selector",
    "spec.parallelism",
    "spec.completions",
    "spec.suspend",
    "spec.strategy",
    "status.succeeded",
    "status.conditions",
];

/// Fields that are kept of a DaemonSet: which nodes its pods are for, and what they request.
const DAEMON_SET: &[&str] = &[
    "spec.selector",
    "spec.updateStrategy",
    "spec.template.spec.nodeName",
    "spec.template.spec.nodeSelector",
    "spec.template.spec.affinity",
    "spec.template.spec.tolerations",
    "spec.template.spec.hostNetwork",
    "spec.template.spec.overhead",
    "spec.template.spec.resources",
    "spec.template.spec.containers.name",
    "spec.template.spec.containers.resources",
    "spec.template.spec.initContainers.name",
    "spec.template.spec.initContainers.resources",
    "spec.template.spec.initContainers.restartPolicy",
];

const CLAIM: &[&str] = &["spec", "status"];
const SERVICE: &[&str] = &["spec.selector"];
const NAMESPACE: &[&str] = &["status.phase"];
const VOLUME: &[&str] = &[
    "spec.capacity",
    "spec.accessModes",
    "spec.claimRef",
    "spec.storageClassName",
    "spec.volumeMode",
    "spec.nodeAffinity",
    "spec.volumeAttributesClassName",
    "spec.csi.driver",
    "spec.csi.volumeHandle",
    "spec.awsElasticBlockStore",
    "spec.azureDisk",
    "spec.azureFile.shareName",
    "spec.cinder.volumeID",
    "spec.gcePersistentDisk",
    "spec.portworxVolume",
    "spec.vsphereVolume",
    "spec.rbd.monitors",
    "spec.rbd.image",
    "spec.rbd.pool",
    "spec.iscsi.iqn",
    "status.phase",
];
const CLASS: &[&str] = &["provisioner", "volumeBindingMode", "allowedTopologies"];
const CAPACITY: &[&str] = &["storageClassName", "nodeTopology", "capacity", "maximumVolumeSize"];
const ATTACHMENT: &[&str] =
    &["spec.attacher", "spec.nodeName", "spec.source.persistentVolumeName", "status.attached"];
const LEASE: &[&str] = &["spec"];
const EVENT: &[&str] = &[
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "reason",
    "message",
    "reportingComponent",
    "source.component",
    "lastTimestamp",
    "eventTime",
    "series",
];
const PRIORITY_CLASS: &[&str] = &["value", "globalDefault", "preemptionPolicy"];

/// Annotations that decisions read, besides those with our own prefixes.
const ANNOTATIONS: [&str; 6] = [
    names::MIRROR,
    names::STORAGE_CLASS,
    names::BIND_COMPLETED,
    names::BOUND_BY_CONTROLLER,
    names::SELECTED_NODE,
    names::MIGRATED_PLUGINS,
];

/// Sources of volumes that decoders read; of others only the kind of source is kept.
const SOURCES: [&str; 10] = [
    "awsElasticBlockStore",
    "azureDisk",
    "cinder",
    "gcePersistentDisk",
    "image",
    "iscsi",
    "persistentVolumeClaim",
    "portworxVolume",
    "rbd",
    "name",
];

/// The object with only the fields that may be saved.
pub(super) fn redacted(resource: Resource, object: &Value) -> Value {
    let mut kept = keep(object, &[META, fields(resource)].concat());
    if let Some(annotations) = kept.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.retain(|key, _| is_ours(key));
    }
    if resource == Resource::Pods {
        for list in ["/spec/containers", "/spec/initContainers"] {
            replace(&mut kept, list, |container| keep(container, CONTAINER));
        }
        for list in ["/status/containerStatuses", "/status/initContainerStatuses"] {
            replace(&mut kept, list, |status| keep(status, CONTAINER_STATUS));
        }
        replace(&mut kept, "/spec/volumes", volume);
    }
    kept
}

fn fields(resource: Resource) -> &'static [&'static str] {
    match resource {
        Resource::Pods => POD,
        Resource::Nodes => NODE,
        Resource::Workloads(OwnerKind::DaemonSet) => DAEMON_SET,
        Resource::Workloads(_) => WORKLOAD,
        Resource::Replicas => LEASE,
        Resource::Events => EVENT,
        Resource::PriorityClasses => PRIORITY_CLASS,
        Resource::Others(kind) => match kind {
            CatalogKind::Namespace => NAMESPACE,
            CatalogKind::Service => SERVICE,
            CatalogKind::PersistentVolume => VOLUME,
            CatalogKind::StorageClass => CLASS,
            CatalogKind::CsiStorageCapacity => CAPACITY,
            CatalogKind::VolumeAttachment => ATTACHMENT,
            CatalogKind::PersistentVolumeClaim
            | CatalogKind::CsiNode
            | CatalogKind::CsiDriver
            | CatalogKind::PodDisruptionBudget
            | CatalogKind::ResourceQuota => CLAIM,
        },
    }
}

fn is_ours(key: &str) -> bool {
    key.starts_with(names::NODE_PREFIX) || key.starts_with(names::PREFIX) || ANNOTATIONS.contains(&key)
}

/// The parts of `value` that the paths name. In a list a path applies to each item.
fn keep(value: &Value, paths: &[&str]) -> Value {
    match value {
        Value::Object(fields) => {
            let kept =
                fields.iter().filter_map(|(name, field)| Some((name.clone(), part(name, field, paths)?)));
            Value::Object(kept.collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| keep(item, paths)).collect()),
        other => other.clone(),
    }
}

/// The kept part of one field; `None` if no path names it.
fn part(name: &str, field: &Value, paths: &[&str]) -> Option<Value> {
    let mut deeper = Vec::new();
    for path in paths {
        let (head, tail) = path.split_once('.').map_or((*path, None), |(head, tail)| (head, Some(tail)));
        match tail {
            _ if head != name => {}
            None => return Some(field.clone()),
            Some(tail) => deeper.push(tail),
        }
    }
    (!deeper.is_empty()).then(|| keep(field, &deeper))
}

fn replace(object: &mut Value, pointer: &str, with: impl Fn(&Value) -> Value) {
    if let Some(items) = object.pointer_mut(pointer).and_then(Value::as_array_mut) {
        items.iter_mut().for_each(|item| *item = with(item));
    }
}

/// A volume with its kind of source, and with the source itself if decoders read it. The names of secrets are left out.
fn volume(volume: &Value) -> Value {
    let Some(fields) = volume.as_object() else { return Value::Null };
    let shown = |(name, source): (&String, &Value)| {
        let source = if SOURCES.contains(&&**name) { source.clone() } else { Value::Object(Map::new()) };
        (name.clone(), source)
    };
    Value::Object(fields.iter().map(shown).collect())
}
