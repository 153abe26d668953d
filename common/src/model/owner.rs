//! Who a pod belongs to: the workloads we can read, and the chain of them above a pod.
//!
//! A claimed `ownerReferences` entry proves nothing, since the API server stores whatever a pod's creator
//! writes there. An owner counts only when the object of that kind and name in the pod's own namespace was read
//! and has that UID (`cluster::owners` does the reading).

use super::daemon_set::DaemonTemplate;
use super::ids::{Text, Uid};
use super::keep::Keep;
use super::selector::Selector;
use std::fmt;
use std::sync::Arc;

/// The kinds of workload that we read. Any other kind ends a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OwnerKind {
    /// apps/v1 ReplicaSet.
    ReplicaSet,
    /// apps/v1 Deployment.
    Deployment,
    /// apps/v1 StatefulSet.
    StatefulSet,
    /// apps/v1 DaemonSet.
    DaemonSet,
    /// batch/v1 Job.
    Job,
    /// batch/v1 CronJob.
    CronJob,
    /// v1 ReplicationController.
    ReplicationController,
    /// A kind of another API group, of which single objects are read by their metadata where the daemon may: see
    /// [`ForeignKind`].
    Foreign,
}

/// A kind that is none of [`OwnerKind::ALL`], such as `CloneSet` of `apps.kruise.io/v1alpha1`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForeignKind {
    /// As in `apiVersion:`.
    pub api_version: Text,
    /// As in `kind:`.
    pub kind: Text,
}

/// An owner of a foreign kind, as an object in a namespace claims it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForeignClaim {
    /// The claimed UID.
    pub uid: Uid,
    /// The namespace of the object that claims it.
    pub namespace: Text,
    /// The claimed kind.
    pub kind: ForeignKind,
    /// The claimed name.
    pub name: Text,
}

/// The `ownerReferences` entry with `controller: true`, as the object claims it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ControllerRef {
    /// The claimed kind; `None` for a kind that we do not follow.
    pub kind: Option<OwnerKind>,
    /// The claimed kind, if it is one that we do not follow.
    pub foreign: Option<Arc<ForeignKind>>,
    /// The claimed name, in the namespace of the object that claims it.
    pub name: Text,
    /// The claimed UID.
    pub uid: Uid,
}

/// What we keep of a workload: enough to walk up from a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Its kind.
    pub kind: OwnerKind,
    /// Its kind, if that is [`OwnerKind::Foreign`].
    pub foreign: Option<Arc<ForeignKind>>,
    /// Its namespace.
    pub namespace: Text,
    /// Its name.
    pub name: Text,
    /// Its UID.
    pub uid: Uid,
    /// The version of the object that was read.
    pub resource_version: u64,
    /// Who controls it in turn, as it claims.
    pub controller: Option<ControllerRef>,
    /// The pods that it selects, for the kinds that [have](OwnerKind::has_selector) one; `None` also if it was not sent
    /// or cannot be understood.
    pub selector: Option<Selector>,
    /// How many pods it wants now; `None` for a kind that does not say, or if it cannot be read.
    pub wanted: Option<u32>,
    /// Whether it is being deleted.
    pub is_deleting: bool,
    /// What is to be kept for its pods.
    pub keep: Option<Keep>,
    /// The pods that its controller makes, if it is a DaemonSet; `None` also if that was not sent or cannot be understood.
    pub daemon: Option<Arc<DaemonTemplate>>,
}

/// The owner that a reservation names: the top of the chain, or the bare pod itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The kind, as in `kind:`; `Pod` for a bare pod.
    pub kind: Text,
    /// The namespace.
    pub namespace: Text,
    /// The name.
    pub name: Text,
    /// The UID, which also forms the annotation key.
    pub uid: Uid,
}

impl Workload {
    /// The workload as the owner of a reservation.
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
    /// Whether this is a reference to `workload`, which is in the namespace of the object that has the reference.
    pub fn names(&self, workload: &Workload) -> bool {
        let is_kind = match &workload.foreign {
            Some(foreign) => self.foreign.as_ref() == Some(foreign),
            None => self.kind == Some(workload.kind),
        };
        is_kind && self.name == workload.name && self.uid == workload.uid
    }

    /// The claim, made by an object in `namespace`, if it is of a foreign kind.
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
    /// The API group; empty if the version has none.
    pub fn group(&self) -> &str {
        self.api_version.rsplit_once('/').map_or("", |(group, _)| group)
    }

    /// The kind that [`ForeignKind`] writes as `CloneSet.v1alpha1.apps.kruise.io`.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once('.')?;
        let (version, group) = rest.split_once('.')?;
        Some(Self { api_version: format!("{group}/{version}").into(), kind: kind.into() })
    }
}

/// Kind, version and group with dots between them, as kubectl takes kinds.
impl fmt::Display for ForeignKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (group, version) = self.api_version.rsplit_once('/').unwrap_or(("", &self.api_version));
        write!(f, "{}.{version}.{group}", self.kind)
    }
}

impl OwnerKind {
    /// Every kind that we follow.
    pub const ALL: [OwnerKind; 7] = [
        OwnerKind::ReplicaSet,
        OwnerKind::Deployment,
        OwnerKind::StatefulSet,
        OwnerKind::DaemonSet,
        OwnerKind::Job,
        OwnerKind::CronJob,
        OwnerKind::ReplicationController,
    ];

    /// The kind that `apiVersion` and `kind` name, whatever the version. A kind of the same name in another API
    /// group is another kind.
    pub fn from_reference(api_version: &str, kind: &str) -> Option<Self> {
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        Self::ALL.into_iter().find(|known| known.group() == group && known.as_str() == kind)
    }

    /// The kind as in `kind:`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReplicaSet => "ReplicaSet",
            Self::Deployment => "Deployment",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
            Self::Job => "Job",
            Self::CronJob => "CronJob",
            Self::ReplicationController => "ReplicationController",
            Self::Foreign => "",
        }
    }

    /// The API group, empty for the core group.
    pub fn group(self) -> &'static str {
        match self {
            Self::ReplicaSet | Self::Deployment | Self::StatefulSet | Self::DaemonSet => "apps",
            Self::Job | Self::CronJob => "batch",
            Self::ReplicationController | Self::Foreign => "",
        }
    }

    /// Where the API server lists it, in all namespaces.
    pub fn path(self) -> String {
        match self.group() {
            "" => format!("/api/v1/{}", self.plural()),
            group => format!("/apis/{group}/v1/{}", self.plural()),
        }
    }

    /// Where the API server lists it in one namespace.
    pub fn path_in(self, namespace: &str) -> String {
        match self.group() {
            "" => format!("/api/v1/namespaces/{namespace}/{}", self.plural()),
            group => format!("/apis/{group}/v1/namespaces/{namespace}/{}", self.plural()),
        }
    }

    /// Whether more than its metadata is read.
    pub fn is_read_whole(self) -> bool {
        self.has_number() || self == Self::DaemonSet
    }

    /// Whether it says how many pods it wants.
    pub fn has_number(self) -> bool {
        !matches!(self, Self::DaemonSet | Self::CronJob | Self::Foreign)
    }

    /// Whether its selector is read, by which its pods are spread.
    pub fn has_selector(self) -> bool {
        matches!(self, Self::ReplicaSet | Self::StatefulSet | Self::ReplicationController)
    }

    /// The plural, as in URLs and roles.
    pub fn plural(self) -> &'static str {
        match self {
            Self::ReplicaSet => "replicasets",
            Self::Deployment => "deployments",
            Self::StatefulSet => "statefulsets",
            Self::DaemonSet => "daemonsets",
            Self::Job => "jobs",
            Self::CronJob => "cronjobs",
            Self::ReplicationController => "replicationcontrollers",
            Self::Foreign => "",
        }
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
