//! The one list of the rights that the daemon needs in a cluster, and why. A test compares the roles in `manifests` with it, so
//! a new watch or write is added here and there, and nowhere else. Entry point: [`rights`].
//!
//! Must not know: how anything is read or written.

mod review;

pub use review::log_missing;

use common::model::{CatalogKind, OwnerKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    /// The API group, empty for the core group.
    pub group: &'static str,
    /// The resource in the plural, with its subresource, if any: `pods/binding`.
    pub resource: &'static str,
    /// The verbs, as in a Role.
    pub verbs: &'static [&'static str],
    pub scope: RightScope,
    /// The module of the daemon that uses it.
    pub user: &'static str,
    /// What the right is needed for; part of the log message when it is missing.
    pub purpose: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RightScope {
    /// In every namespace, and for objects without a namespace.
    Cluster,
    OwnNamespace,
    /// In `kube-system`, by a role that every cluster has.
    KubeSystem,
    /// By ClusterRoles with the label `reserve/aggregate-to-daemon`, which users add to let the daemon read more kinds.
    Aggregated,
}

const LIST_AND_WATCH: &[&str] = &["list", "watch"];

pub fn rights() -> Vec<Right> {
    let list_and_watch = |group, resource, purpose| right(group, resource, LIST_AND_WATCH, "watch", purpose);
    let owners = OwnerKind::ALL
        .map(|kind| list_and_watch(kind.group(), kind.plural(), "whose a pod is, and how many are wanted"));
    let others =
        CatalogKind::ALL.map(|kind| list_and_watch(kind.group(), kind.plural(), "decisions read it"));
    let mut all = vec![
        list_and_watch("", "nodes", "room, and what is reserved there"),
        list_and_watch("", "pods", "what is to be placed, and what takes room"),
    ];
    all.extend(owners);
    all.extend(others);
    all.extend(scheduling());
    all.extend(reserving());
    all.extend(serving());
    all
}

fn scheduling() -> Vec<Right> {
    vec![
        right("", "pods/binding", &["create"], "effects::bind", "place a pod"),
        right("", "pods", &["get"], "effects::find", "what became of a binding without an answer"),
        right("", "pods/status", &["patch"], "effects::condition", "say why a pod waits"),
        right("", "pods", &["delete"], "effects::evict", "victims of preemption"),
        right("", "persistentvolumes", &["patch"], "effects::object_writes", "bind a volume to a claim"),
        right(
            "",
            "persistentvolumeclaims",
            &["patch"],
            "effects::object_writes",
            "name the node to make a volume for",
        ),
        right("events.k8s.io", "events", &["create"], "effects::events", "tell people"),
    ]
}

fn reserving() -> Vec<Right> {
    let owners =
        right("*", "*", &["get"], "effects::owner", "whose a pod is, if its owner is of another kind");
    vec![
        Right { scope: RightScope::Aggregated, ..owners },
        right("", "nodes", &["get", "patch"], "effects::reserve", "reserve and release"),
        right(
            "",
            "nodes/reservations",
            &["update"],
            "effects::reserve",
            "the policy reserve-writers asks for it",
        ),
    ]
}

fn serving() -> Vec<Right> {
    let verbs = &["create", "get", "list", "watch", "update", "patch", "delete"];
    let leases =
        right("coordination.k8s.io", "leases", verbs, "lease", "election, and what each replica has seen");
    let authorities =
        right("", "configmaps", &["get"], "admin", "by which CA a client's certificate is known");
    vec![
        Right { scope: RightScope::OwnNamespace, ..leases },
        Right { scope: RightScope::KubeSystem, ..authorities },
        right("authentication.k8s.io", "tokenreviews", &["create"], "admin", "who asks for metrics"),
        right("authorization.k8s.io", "subjectaccessreviews", &["create"], "admin", "whether they may"),
    ]
}

fn right(
    group: &'static str,
    resource: &'static str,
    verbs: &'static [&'static str],
    user: &'static str,
    purpose: &'static str,
) -> Right {
    Right { group, resource, verbs, scope: RightScope::Cluster, user, purpose }
}
