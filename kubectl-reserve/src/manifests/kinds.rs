//! The kinds of object that are installed, in the order in which they are applied: what others refer to comes first, and
//! the daemon last, when its rights and the policies that confine it are there.

/// A kind of object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    /// As in `kind:`.
    pub(crate) kind: &'static str,
    /// The API group, empty for the core group.
    pub(crate) group: &'static str,
    /// In the plural, as in URLs and roles.
    pub(crate) plural: &'static str,
    /// Whether its objects are in namespaces.
    pub(crate) is_namespaced: bool,
}

/// All of them, in order. Each is served as `v1`.
pub(crate) const KINDS: [Kind; 17] = [
    kind("Namespace", "", "namespaces", false),
    kind("ResourceQuota", "", "resourcequotas", true),
    kind("ServiceAccount", "", "serviceaccounts", true),
    kind("ClusterRole", RBAC, "clusterroles", false),
    kind("Role", RBAC, "roles", true),
    kind("ClusterRoleBinding", RBAC, "clusterrolebindings", false),
    kind("RoleBinding", RBAC, "rolebindings", true),
    kind("Lease", "coordination.k8s.io", "leases", true),
    kind("ValidatingAdmissionPolicy", ADMISSION, "validatingadmissionpolicies", false),
    kind("ValidatingAdmissionPolicyBinding", ADMISSION, "validatingadmissionpolicybindings", false),
    kind("PriorityLevelConfiguration", FLOW, "prioritylevelconfigurations", false),
    kind("FlowSchema", FLOW, "flowschemas", false),
    kind("ConfigMap", "", "configmaps", true),
    kind("Service", "", "services", true),
    kind("NetworkPolicy", "networking.k8s.io", "networkpolicies", true),
    kind("PodDisruptionBudget", "policy", "poddisruptionbudgets", true),
    kind("Deployment", "apps", "deployments", true),
];

const RBAC: &str = "rbac.authorization.k8s.io";
const ADMISSION: &str = "admissionregistration.k8s.io";
const FLOW: &str = "flowcontrol.apiserver.k8s.io";

const fn kind(kind: &'static str, group: &'static str, plural: &'static str, is_namespaced: bool) -> Kind {
    Kind { kind, group, plural, is_namespaced }
}

impl Kind {
    /// The kind called so, and its place in the order.
    pub(crate) fn find(kind: &str) -> Option<(usize, Self)> {
        KINDS.iter().copied().enumerate().find(|(_, one)| one.kind == kind)
    }

    /// `deployment.apps`, as kubectl says it.
    pub(crate) fn word(self) -> String {
        let kind = self.kind.to_ascii_lowercase();
        if self.group.is_empty() { kind } else { format!("{kind}.{}", self.group) }
    }

    /// `deployments.apps`, as roles and error messages say it.
    pub(crate) fn resource(self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// Where its objects are: those of one namespace, or all.
    pub(crate) fn path(self, namespace: Option<&str>) -> String {
        let root =
            if self.group.is_empty() { "/api/v1".to_owned() } else { format!("/apis/{}/v1", self.group) };
        match namespace.filter(|_| self.is_namespaced) {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{}", self.plural),
            None => format!("{root}/{}", self.plural),
        }
    }
}
