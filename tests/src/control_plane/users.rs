//! Who talks to the API server in tests. Each has a token of its own.

/// A user of a test cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum User {
    /// May do everything (group `system:masters`).
    Admin,
    /// Somebody with no rights until a test grants some (group `tenants`).
    Tenant,
    /// The kubelet of one node, held to it by the Node authorizer and NodeRestriction.
    Kubelet,
    /// Our daemon, `reserve-daemon`, with no rights until `Cluster::install_roles`.
    Daemon,
    /// The cluster's own kube-controller-manager.
    ControllerManager,
    /// The cluster's own kube-scheduler.
    Scheduler,
    /// The fake kubelets that run all nodes and pods.
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

    /// A word for file names and user agents.
    pub(super) fn word(self) -> &'static str {
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

    /// The name the API server knows, and writes into the audit log.
    pub(super) fn name(self, kubelet_of: &str) -> String {
        match self {
            Self::Kubelet => format!("system:node:{kubelet_of}"),
            Self::Daemon => "reserve-daemon".to_owned(),
            // These two have their roles from the API server itself, by these names.
            Self::ControllerManager | Self::Scheduler => format!("system:{}", self.word()),
            Self::Admin | Self::Tenant | Self::Kwok => self.word().to_owned(),
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
