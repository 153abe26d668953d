//! The kinds of object that are served: the one list of them.

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

/// What only some kinds have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Has {
    /// A status that is written apart from the rest.
    Status,
    /// A generation that counts changes of the spec.
    Generation,
    /// A number of replicas to scale.
    Scale,
    /// Its last state is the answer to its deletion.
    Farewell,
    /// It can be written without naming a version.
    LooseUpdate,
}

use Has::{Farewell, Generation, LooseUpdate, Scale, Status};

/// One kind of object.
#[derive(Debug)]
pub(crate) struct Resource {
    /// The API group, empty for the core group.
    pub(crate) group: &'static str,
    /// The plural, as in URLs.
    pub(crate) plural: &'static str,
    /// As in `kind:`.
    pub(crate) kind: &'static str,
    pub(crate) is_namespaced: bool,
    pub(crate) short: &'static [&'static str],
    has: &'static [Has],
    /// Reads a value as the API's type, which drops what the type does not have.
    pub(crate) read: fn(Value) -> serde_json::Result<Value>,
}

impl Resource {
    /// Whether the kind has it.
    pub(crate) fn has(&self, what: Has) -> bool {
        self.has.contains(&what)
    }

    /// As in `apiVersion:`. All are of version 1.
    pub(crate) fn api_version(&self) -> String {
        [self.group, "v1"].join("/").trim_start_matches('/').to_owned()
    }

    /// As messages name it: `deployments.apps`.
    pub(crate) fn qualified(&self) -> String {
        [self.plural, self.group].join(".").trim_end_matches('.').to_owned()
    }

    /// As messages about its content name it: `Deployment.apps`.
    pub(crate) fn kind_and_group(&self) -> String {
        [self.kind, self.group].join(".").trim_end_matches('.').to_owned()
    }

    /// Events are one thing in two groups: they are stored once.
    pub(crate) fn is_new_event(&self) -> bool {
        self.group == "events.k8s.io"
    }
}

fn read<T: DeserializeOwned + Serialize>(value: Value) -> serde_json::Result<Value> {
    serde_json::to_value(serde_json::from_value::<T>(value)?)
}

fn entry<T>(short: &'static [&'static str], has: &'static [Has]) -> Resource
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
        has,
        read: read::<T>,
    }
}

/// Every kind that is served.
pub(crate) static RESOURCES: LazyLock<Vec<Resource>> = LazyLock::new(|| {
    const PLAIN: &[Has] = &[LooseUpdate];
    const BODIED: &[Has] = &[Status, Generation, LooseUpdate];
    const SCALED: &[Has] = &[Status, Generation, Scale, LooseUpdate];
    vec![
        entry::<core::Namespace>(&["ns"], &[Status, LooseUpdate]),
        entry::<core::Node>(&["no"], &[Status, LooseUpdate]),
        entry::<core::Pod>(&["po"], &[Status, Generation, Farewell, LooseUpdate]),
        entry::<core::Event>(&["ev"], PLAIN),
        entry::<events::Event>(&["ev"], PLAIN),
        entry::<core::Service>(&["svc"], &[Status, Farewell, LooseUpdate]),
        entry::<core::ServiceAccount>(&["sa"], &[Farewell, LooseUpdate]),
        entry::<core::ConfigMap>(&["cm"], PLAIN),
        entry::<core::ResourceQuota>(&["quota"], &[Status, Farewell, LooseUpdate]),
        entry::<core::Secret>(&[], PLAIN),
        entry::<core::PersistentVolume>(&["pv"], &[Status, Farewell, LooseUpdate]),
        entry::<core::PersistentVolumeClaim>(&["pvc"], &[Status, Farewell, LooseUpdate]),
        entry::<core::ReplicationController>(&["rc"], SCALED),
        entry::<apps::Deployment>(&["deploy"], SCALED),
        entry::<apps::ReplicaSet>(&["rs"], SCALED),
        entry::<apps::StatefulSet>(&["sts"], SCALED),
        entry::<apps::DaemonSet>(&["ds"], BODIED),
        entry::<batch::Job>(&[], BODIED),
        entry::<batch::CronJob>(&["cj"], BODIED),
        entry::<policy::PodDisruptionBudget>(&["pdb"], &[Status, Generation]),
        entry::<coordination::Lease>(&[], &[]),
        entry::<scheduling::PriorityClass>(&["pc"], BODIED),
        entry::<storage::StorageClass>(&["sc"], PLAIN),
        entry::<storage::CSINode>(&[], PLAIN),
        entry::<storage::CSIDriver>(&[], PLAIN),
        entry::<storage::CSIStorageCapacity>(&[], PLAIN),
        entry::<storage::VolumeAttachment>(&[], &[Status, LooseUpdate]),
        entry::<rbac::Role>(&[], PLAIN),
        entry::<rbac::RoleBinding>(&[], PLAIN),
        entry::<rbac::ClusterRole>(&[], PLAIN),
        entry::<rbac::ClusterRoleBinding>(&[], PLAIN),
        entry::<admission::ValidatingAdmissionPolicy>(&[], BODIED),
        entry::<admission::ValidatingAdmissionPolicyBinding>(&[], BODIED),
    ]
});

/// Finds a kind by its group and plural.
pub(crate) fn find(group: &str, plural: &str) -> Option<&'static Resource> {
    RESOURCES.iter().find(|one| one.group == group && one.plural == plural)
}

/// The groups beside the core group.
pub(crate) fn groups() -> Vec<&'static str> {
    let mut groups: Vec<&str> =
        RESOURCES.iter().map(|one| one.group).filter(|group| !group.is_empty()).collect();
    groups.extend(["authentication.k8s.io", "authorization.k8s.io"]);
    groups.sort_unstable();
    groups.dedup();
    groups
}
