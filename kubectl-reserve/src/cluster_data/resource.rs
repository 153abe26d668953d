//! The kinds that are listed: the URL of each, its field selector, and whether whole objects or only metadata are requested.

use super::Depth;
use crate::api::{JSON, METADATA};
use crate::reader::LIVE;
use common::model::{CatalogKind, OwnerKind};

/// Events of controllers that could not create pods.
const FAILED_CREATE: &str = "fieldSelector=reason%3DFailedCreate";

/// A kind of object that is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Resource {
    Pods,
    Nodes,
    Workloads(OwnerKind),
    Others(CatalogKind),
    /// The Leases of the daemon's replicas.
    Replicas,
    Events,
    PriorityClasses,
}

impl Resource {
    /// Every kind that is listed at this depth.
    pub(super) fn all(depth: Depth) -> Vec<Self> {
        let mut all = vec![Self::Pods, Self::Nodes, Self::Replicas];
        all.extend(OwnerKind::ALL.map(Self::Workloads));
        // ResourceQuotas limit what the daemon reserves by itself, and decide nothing here.
        let others = CatalogKind::ALL.into_iter().filter(|kind| *kind != CatalogKind::ResourceQuota);
        all.extend(others.map(Self::Others));
        if depth == Depth::Reasons {
            all.extend([Self::PriorityClasses, Self::Events]);
        }
        all
    }

    /// The plural, as in URLs and roles.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pods => "pods",
            Self::Nodes => "nodes",
            Self::Workloads(kind) => kind.plural(),
            Self::Others(kind) => kind.plural(),
            Self::Replicas => "leases",
            Self::Events => "events",
            Self::PriorityClasses => "priorityclasses",
        }
    }

    /// The kind with this plural.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::all(Depth::Reasons).into_iter().find(|resource| resource.name() == name)
    }

    /// The URL that lists all namespaces. `None` for Leases: they are only read in the daemon's namespaces, because tenants can
    /// write Leases elsewhere.
    pub(super) fn path(self) -> Option<String> {
        match self {
            Self::Pods | Self::Nodes | Self::Events => Some(format!("/api/v1/{}", self.name())),
            Self::Workloads(kind) => Some(kind.path()),
            Self::Others(kind) => Some(kind.path()),
            Self::Replicas => None,
            Self::PriorityClasses => Some("/apis/scheduling.k8s.io/v1/priorityclasses".into()),
        }
    }

    /// The URL that lists one namespace; `None` for cluster-scoped kinds.
    pub(super) fn path_in(self, namespace: &str) -> Option<String> {
        match self {
            Self::Pods | Self::Events => Some(format!("/api/v1/namespaces/{namespace}/{}", self.name())),
            Self::Workloads(kind) => Some(kind.path_in(namespace)),
            Self::Others(kind @ (CatalogKind::Service | CatalogKind::PersistentVolumeClaim)) => {
                Some(format!("/api/v1/namespaces/{namespace}/{}", kind.plural()))
            }
            Self::Others(CatalogKind::PodDisruptionBudget) => {
                Some(format!("/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"))
            }
            Self::Nodes | Self::Others(_) | Self::Replicas | Self::PriorityClasses => None,
        }
    }

    pub(super) fn query(self) -> String {
        match self {
            Self::Pods => format!("fieldSelector={LIVE}"),
            Self::Events => FAILED_CREATE.to_owned(),
            _ => String::new(),
        }
    }

    /// The `Accept` header: whole objects, or metadata only.
    pub(super) fn accept(self, depth: Depth) -> &'static str {
        let is_whole = |kind: OwnerKind| match kind {
            OwnerKind::DaemonSet => true,
            kind => kind.has_selector() || (depth == Depth::Reasons && kind.has_desired_pods()),
        };
        match self {
            Self::Workloads(kind) if !is_whole(kind) => METADATA,
            _ => JSON,
        }
    }
}
