//! The users of the API server in tests. Each has a token of its own.

/// A user of a test cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum User {
    /// May do everything (group `system:masters`).
    Admin,
    /// Has no rights until a test grants some (group `tenants`).
    Tenant,
    /// The kubelet of one node, restricted to this node by the Node authorizer and NodeRestriction.
    Kubelet,
    /// Our daemon, `reserve-daemon`, with no rights until `Cluster::install_roles`.
    Daemon,
    /// The cluster's own kube-controller-manager.
    ControllerManager,
    /// The cluster's own kube-scheduler.
    Scheduler,
    /// kwok: the fake kubelets of all nodes.
    Kwok,
}

impl User {
    pub(super) const ALL: [Self; 7] = [
        Self::Admin,
        Self::Tenant,
        Self::Kubelet,
        Self::Daemon,
        Self::ControllerManager,
        Self::Scheduler,
        Self::Kwok,
    ];

    /// The name for file names and user agents.
    pub(super) fn short_name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Tenant => "tenant",
            Self::Kubelet => "kubelet",
            Self::Daemon => "daemon",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Kwok => "kwok",
        }
    }

    /// The name of the user in the API server and its audit log.
    pub(super) fn name(self, kubelet_of: &str) -> String {
        match self {
            Self::Kubelet => format!("system:node:{kubelet_of}"),
            Self::Daemon => "reserve-daemon".to_owned(),
            // The API server's default ClusterRoleBindings give these two their rights by these names.
            Self::ControllerManager | Self::Scheduler => format!("system:{}", self.short_name()),
            Self::Admin | Self::Tenant | Self::Kwok => self.short_name().to_owned(),
        }
    }

    pub(super) fn group(self) -> Option<&'static str> {
        match self {
            Self::Admin | Self::Kwok => Some("system:masters"),
            Self::Tenant => Some("tenants"),
            Self::Kubelet => Some("system:nodes"),
            Self::Daemon | Self::ControllerManager | Self::Scheduler => None,
        }
    }
}
