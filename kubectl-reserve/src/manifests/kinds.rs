//! The kinds of objects that are installed, in the order in which they are applied: objects that others refer to come first. The
//! daemon comes last, when its RBAC rules and the policies that restrict it exist.

/// A kind of object that is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ManifestKind {
    pub(crate) kind: &'static str,
    /// The API group, empty for the core group.
    pub(crate) group: &'static str,
    /// The plural, as in URLs and roles.
    pub(crate) plural: &'static str,
    pub(crate) is_namespaced: bool,
}

/// All kinds, in order. The API version of each is `v1`.
pub(crate) const KINDS: [ManifestKind; 17] = [
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

const fn kind(
    kind: &'static str,
    group: &'static str,
    plural: &'static str,
    is_namespaced: bool,
) -> ManifestKind {
    ManifestKind { kind, group, plural, is_namespaced }
}

impl ManifestKind {
    /// The kind with this name, and its index in [`KINDS`].
    pub(crate) fn find(kind: &str) -> Option<(usize, Self)> {
        KINDS.iter().copied().enumerate().find(|(_, one)| one.kind == kind)
    }

    /// The kind as kubectl prints it: `deployment.apps`.
    pub(crate) fn word(self) -> String {
        let kind = self.kind.to_ascii_lowercase();
        if self.group.is_empty() { kind } else { format!("{kind}.{}", self.group) }
    }

    /// The resource as roles and error messages name it: `deployments.apps`.
    pub(crate) fn resource(self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// The URL of the objects in one namespace, or in all.
    pub(crate) fn path(self, namespace: Option<&str>) -> String {
        let root =
            if self.group.is_empty() { "/api/v1".to_owned() } else { format!("/apis/{}/v1", self.group) };
        match namespace.filter(|_| self.is_namespaced) {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{}", self.plural),
            None => format!("{root}/{}", self.plural),
        }
    }
}
