//! The one list of the kinds that the sandbox serves.

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::{
    admissionregistration::v1 as admission, apps::v1 as apps, batch::v1 as batch,
    coordination::v1 as coordination, core::v1 as core, events::v1 as events, policy::v1 as policy,
    rbac::v1 as rbac, scheduling::v1 as scheduling, storage::v1 as storage,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::TypeId;
use std::sync::LazyLock;

/// A property that only some kinds have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    /// The subresource `status`.
    Status,
    /// `metadata.generation`, which counts changes of the spec.
    Generation,
    /// The subresource `scale`.
    Scale,
    /// The answer to a deletion is the deleted object, not a `Status`.
    ReturnDeletedObject,
    /// An update may lack a `resourceVersion`.
    UnconditionalUpdate,
}

use Feature::{Generation, ReturnDeletedObject, Scale, Status, UnconditionalUpdate};

#[derive(Debug)]
pub(crate) struct Resource {
    /// The API group, empty for the core group.
    pub(crate) group: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) is_namespaced: bool,
    pub(crate) short: &'static [&'static str],
    features: &'static [Feature],
    /// Converts a value to the API's type and back, which validates it and drops unknown fields.
    pub(crate) read: fn(Value) -> serde_json::Result<Value>,
}

impl Resource {
    pub(crate) fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    /// The value of `apiVersion`. The version is always v1.
    pub(crate) fn api_version(&self) -> String {
        [self.group, "v1"].join("/").trim_start_matches('/').to_owned()
    }

    /// The name in most messages: `deployments.apps`.
    pub(crate) fn qualified(&self) -> String {
        [self.plural, self.group].join(".").trim_end_matches('.').to_owned()
    }

    /// The name in messages about invalid fields: `Deployment.apps`.
    pub(crate) fn kind_and_group(&self) -> String {
        [self.kind, self.group].join(".").trim_end_matches('.').to_owned()
    }

    /// Whether this is the Event of `events.k8s.io`. Both kinds of Event are stored as one.
    pub(crate) fn is_new_event(&self) -> bool {
        self.group == "events.k8s.io"
    }
}

fn read<T: DeserializeOwned + Serialize>(value: Value) -> serde_json::Result<Value> {
    serde_json::to_value(serde_json::from_value::<T>(value)?)
}

fn entry<T>(short: &'static [&'static str], features: &'static [Feature]) -> Resource
where
    T: k8s_openapi::Resource + DeserializeOwned + Serialize,
    T::Scope: 'static,
{
    Resource {
        group: T::GROUP,
        plural: T::URL_PATH_SEGMENT,
        kind: T::KIND,
        is_namespaced: TypeId::of::<T::Scope>() == TypeId::of::<NamespaceResourceScope>(),
        short,
        features,
        read: read::<T>,
    }
}

/// Every kind that is served.
pub(crate) static RESOURCES: LazyLock<Vec<Resource>> = LazyLock::new(|| {
    const SIMPLE: &[Feature] = &[UnconditionalUpdate];
    const WITH_STATUS: &[Feature] = &[Status, Generation, UnconditionalUpdate];
    const SCALABLE: &[Feature] = &[Status, Generation, Scale, UnconditionalUpdate];
    vec![
        entry::<core::Namespace>(&["ns"], &[Status, UnconditionalUpdate]),
        entry::<core::Node>(&["no"], &[Status, UnconditionalUpdate]),
        entry::<core::Pod>(&["po"], &[Status, Generation, ReturnDeletedObject, UnconditionalUpdate]),
        entry::<core::Event>(&["ev"], SIMPLE),
        entry::<events::Event>(&["ev"], SIMPLE),
        entry::<core::Service>(&["svc"], &[Status, ReturnDeletedObject, UnconditionalUpdate]),
        entry::<core::ServiceAccount>(&["sa"], &[ReturnDeletedObject, UnconditionalUpdate]),
        entry::<core::ConfigMap>(&["cm"], SIMPLE),
        entry::<core::ResourceQuota>(&["quota"], &[Status, ReturnDeletedObject, UnconditionalUpdate]),
        entry::<core::Secret>(&[], SIMPLE),
        entry::<core::PersistentVolume>(&["pv"], &[Status, ReturnDeletedObject, UnconditionalUpdate]),
        entry::<core::PersistentVolumeClaim>(&["pvc"], &[Status, ReturnDeletedObject, UnconditionalUpdate]),
        entry::<core::ReplicationController>(&["rc"], SCALABLE),
        entry::<apps::Deployment>(&["deploy"], SCALABLE),
        entry::<apps::ReplicaSet>(&["rs"], SCALABLE),
        entry::<apps::StatefulSet>(&["sts"], SCALABLE),
        entry::<apps::DaemonSet>(&["ds"], WITH_STATUS),
        entry::<batch::Job>(&[], WITH_STATUS),
        entry::<batch::CronJob>(&["cj"], WITH_STATUS),
        entry::<policy::PodDisruptionBudget>(&["pdb"], &[Status, Generation]),
        entry::<coordination::Lease>(&[], &[]),
        entry::<scheduling::PriorityClass>(&["pc"], WITH_STATUS),
        entry::<storage::StorageClass>(&["sc"], SIMPLE),
        entry::<storage::CSINode>(&[], SIMPLE),
        entry::<storage::CSIDriver>(&[], SIMPLE),
        entry::<storage::CSIStorageCapacity>(&[], SIMPLE),
        entry::<storage::VolumeAttachment>(&[], &[Status, UnconditionalUpdate]),
        entry::<rbac::Role>(&[], SIMPLE),
        entry::<rbac::RoleBinding>(&[], SIMPLE),
        entry::<rbac::ClusterRole>(&[], SIMPLE),
        entry::<rbac::ClusterRoleBinding>(&[], SIMPLE),
        entry::<admission::ValidatingAdmissionPolicy>(&[], WITH_STATUS),
        entry::<admission::ValidatingAdmissionPolicyBinding>(&[], WITH_STATUS),
    ]
});

pub(crate) fn find(group: &str, plural: &str) -> Option<&'static Resource> {
    RESOURCES.iter().find(|one| one.group == group && one.plural == plural)
}

/// All groups except the core group.
pub(crate) fn groups() -> Vec<&'static str> {
    let mut groups: Vec<&str> =
        RESOURCES.iter().map(|one| one.group).filter(|group| !group.is_empty()).collect();
    groups.extend(["authentication.k8s.io", "authorization.k8s.io"]);
    groups.sort_unstable();
    groups.dedup();
    groups
}
