//! The owners of pods: the workloads that we read, and the references between them.
//!
//! An `ownerReferences` entry proves nothing, since the API server stores whatever the creator of a pod writes there. An owner
//! counts only if the object of that kind and name in the pod's own namespace was read and has that UID (`cluster::owners` checks
//! this).

use super::object::list_path;
use super::{DaemonTemplate, Keep, Selector, Text, Uid};
use std::fmt;
use std::sync::Arc;

/// The kinds of workload that we read. An owner of any other kind ends the chain of owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OwnerKind {
    ReplicaSet,
    Deployment,
    StatefulSet,
    DaemonSet,
    Job,
    CronJob,
    ReplicationController,
    /// A kind of another API group: see [`ForeignKind`]. Of such a kind only the metadata of single objects is read, where a role
    /// allows the daemon to do so.
    Foreign,
}

/// A kind that is not in [`OwnerKind::ALL`], such as `CloneSet` of `apps.kruise.io/v1alpha1`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForeignKind {
    pub api_version: Text,
    pub kind: Text,
}

/// An owner of a foreign kind, as the `ownerReferences` of an object claim it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForeignClaim {
    pub uid: Uid,
    /// The namespace of the object that claims it.
    pub namespace: Text,
    pub kind: ForeignKind,
    pub name: Text,
}

/// The `ownerReferences` entry with `controller: true`, not yet checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ControllerRef {
    /// The claimed kind; `None` for a foreign kind.
    pub kind: Option<OwnerKind>,
    pub foreign: Option<Arc<ForeignKind>>,
    /// The claimed name, in the namespace of the object that claims it.
    pub name: Text,
    pub uid: Uid,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    pub kind: OwnerKind,
    pub foreign: Option<Arc<ForeignKind>>,
    pub namespace: Text,
    pub name: Text,
    pub uid: Uid,
    pub resource_version: u64,
    /// Its own controller, as its `ownerReferences` claim.
    pub controller: Option<ControllerRef>,
    /// The pods that it selects, for kinds with [`OwnerKind::has_selector`]. `None` also if the selector was not sent or is
    /// invalid.
    pub selector: Option<Selector>,
    /// How many pods there should be now (for most kinds `spec.replicas`). `None` for a kind without such a number, or if it was
    /// not sent.
    pub desired_pods: Option<u32>,
    pub is_deleting: bool,
    pub keep: Option<Keep>,
    /// Describes the pods that its controller makes, if it is a DaemonSet. `None` also if the spec was not sent or is invalid.
    pub daemon: Option<Arc<DaemonTemplate>>,
}

/// The owner that a reservation names: the top of the chain of owners, or the pod itself if nothing controls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The value of `kind:`; `Pod` for a pod that nothing controls.
    pub kind: Text,
    pub namespace: Text,
    pub name: Text,
    /// The UID, which also forms the annotation key.
    pub uid: Uid,
}

impl Workload {
    pub fn owner(&self) -> Owner {
        Owner {
            kind: match &self.foreign {
                Some(foreign) => foreign.to_string().into(),
                None => self.kind.as_str().into(),
            },
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            uid: self.uid.clone(),
        }
    }
}

impl ControllerRef {
    /// Whether this reference means `workload`. The caller checks that both are in the same namespace.
    pub fn refers_to(&self, workload: &Workload) -> bool {
        let is_kind = match &workload.foreign {
            Some(foreign) => self.foreign.as_ref() == Some(foreign),
            None => self.kind == Some(workload.kind),
        };
        is_kind && self.name == workload.name && self.uid == workload.uid
    }

    /// This reference of an object in `namespace`, if its kind is foreign.
    pub fn foreign_in(&self, namespace: &Text) -> Option<ForeignClaim> {
        Some(ForeignClaim {
            uid: self.uid.clone(),
            namespace: namespace.clone(),
            kind: (**self.foreign.as_ref()?).clone(),
            name: self.name.clone(),
        })
    }
}

impl ForeignKind {
    /// The API group; empty if `apiVersion` has none.
    pub fn group(&self) -> &str {
        self.api_version.rsplit_once('/').map_or("", |(group, _)| group)
    }

    /// Reads the text that `Display` writes: `CloneSet.v1alpha1.apps.kruise.io`.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once('.')?;
        let (version, group) = rest.split_once('.')?;
        Some(Self { api_version: format!("{group}/{version}").into(), kind: kind.into() })
    }
}

/// Kind, version and group with dots between them, a form that kubectl accepts.
impl fmt::Display for ForeignKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (group, version) = self.api_version.rsplit_once('/').unwrap_or(("", &self.api_version));
        write!(f, "{}.{version}.{group}", self.kind)
    }
}

impl OwnerKind {
    /// All kinds except [`OwnerKind::Foreign`].
    pub const ALL: [OwnerKind; 7] = [
        OwnerKind::ReplicaSet,
        OwnerKind::Deployment,
        OwnerKind::StatefulSet,
        OwnerKind::DaemonSet,
        OwnerKind::Job,
        OwnerKind::CronJob,
        OwnerKind::ReplicationController,
    ];

    /// The kind with this `apiVersion` and `kind`; the version does not matter. A kind of the same name in another API group is
    /// another kind.
    pub fn from_reference(api_version: &str, kind: &str) -> Option<Self> {
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        Self::ALL.into_iter().find(|known| known.group() == group && known.as_str() == kind)
    }

    /// The API group, empty for the core group; the value of `kind:`; the plural.
    const fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::ReplicaSet => ("apps", "ReplicaSet", "replicasets"),
            Self::Deployment => ("apps", "Deployment", "deployments"),
            Self::StatefulSet => ("apps", "StatefulSet", "statefulsets"),
            Self::DaemonSet => ("apps", "DaemonSet", "daemonsets"),
            Self::Job => ("batch", "Job", "jobs"),
            Self::CronJob => ("batch", "CronJob", "cronjobs"),
            Self::ReplicationController => ("", "ReplicationController", "replicationcontrollers"),
            Self::Foreign => ("", "", ""),
        }
    }

    /// The API group, empty for the core group.
    pub fn group(self) -> &'static str {
        self.names().0
    }

    /// The value of `kind:`.
    pub fn as_str(self) -> &'static str {
        self.names().1
    }

    /// The plural, as in URLs and roles.
    pub fn plural(self) -> &'static str {
        self.names().2
    }

    /// The URL path under which the API server lists the kind, in all namespaces.
    pub fn path(self) -> String {
        self.path_in("")
    }

    /// The URL path under which the API server lists the kind in one namespace.
    pub fn path_in(self, namespace: &str) -> String {
        list_path(self.group(), namespace, self.plural())
    }

    /// Whether the whole object is read. Of other kinds the metadata is enough.
    pub fn needs_full_object(self) -> bool {
        self.has_desired_pods() || self == Self::DaemonSet
    }

    /// Whether objects of this kind say how many pods there should be.
    pub fn has_desired_pods(self) -> bool {
        !matches!(self, Self::DaemonSet | Self::CronJob | Self::Foreign)
    }

    /// Whether the selector is read: the pods that it matches are spread by default.
    pub fn has_selector(self) -> bool {
        matches!(self, Self::ReplicaSet | Self::StatefulSet | Self::ReplicationController)
    }
}

impl fmt::Display for OwnerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::{ForeignKind, OwnerKind};

    #[test]
    fn a_kind_is_known_by_group_and_name() {
        let known = OwnerKind::from_reference;
        assert_eq!(known("apps/v1", "Deployment"), Some(OwnerKind::Deployment));
        assert_eq!(known("apps/v1beta2", "ReplicaSet"), Some(OwnerKind::ReplicaSet));
        assert_eq!(known("v1", "ReplicationController"), Some(OwnerKind::ReplicationController));
        assert_eq!(known("batch/v1", "Job"), Some(OwnerKind::Job));
        assert_eq!(known("v1", "Deployment"), None);
        assert_eq!(known("example.com/v1", "Deployment"), None);
        assert_eq!(known("argoproj.io/v1alpha1", "Rollout"), None);
        assert_eq!(known("example.com/v1", ""), None);
    }

    #[test]
    fn a_foreign_kind_is_written_as_kubectl_takes_it() {
        let kind = ForeignKind { api_version: "apps.kruise.io/v1alpha1".into(), kind: "CloneSet".into() };
        assert_eq!(kind.to_string(), "CloneSet.v1alpha1.apps.kruise.io");
        assert_eq!(ForeignKind::parse(&kind.to_string()), Some(kind));
        assert_eq!(ForeignKind::parse("Deployment"), None);
    }
}
