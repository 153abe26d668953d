//! What the daemon may do in a cluster, and what for: the one list. The roles in `manifests` are compared with it by a
//! test, so a new watch or a new write is added here, there, and nowhere else.
//!
//! Knows nothing of: how anything is read or written.

mod granted;

pub use granted::tell_missing;

use common::model::OtherKind;
use common::model::owner::OwnerKind;

/// A right, as a role has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    /// The API group, empty for the core group.
    pub group: &'static str,
    /// The resource in the plural, with its subresource, if any: `pods/binding`.
    pub resource: &'static str,
    /// What may be done.
    pub verbs: &'static [&'static str],
    /// Where.
    pub place: Place,
    /// The module of the daemon that uses it.
    pub user: &'static str,
    /// What for.
    pub purpose: &'static str,
}

/// Where a right is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In every namespace, and for what has none.
    Everywhere,
    /// In the daemon's own namespace.
    Own,
    /// In `kube-system`, given by a role that every cluster has.
    System,
    /// Wherever people let the daemon read more kinds, by ClusterRoles with the label `reserve/aggregate-to-daemon`.
    Added,
}

/// To know all of a kind from now on.
const FOLLOW: &[&str] = &["list", "watch"];

/// Everything that the daemon needs, by what uses it.
pub fn rights() -> Vec<Right> {
    let follow = |group, resource, purpose| right(group, resource, FOLLOW, "watch", purpose);
    let owners = OwnerKind::ALL
        .map(|kind| follow(kind.group(), kind.plural(), "whose a pod is, and how many are wanted"));
    let others = OtherKind::ALL.map(|kind| follow(kind.group(), kind.plural(), "decisions read it"));
    let mut all = vec![
        follow("", "nodes", "room, and what is reserved there"),
        follow("", "pods", "what is to be placed, and what takes room"),
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
        right("", "persistentvolumes", &["patch"], "effects::volumes", "bind a volume to a claim"),
        right(
            "",
            "persistentvolumeclaims",
            &["patch"],
            "effects::volumes",
            "name the node to make a volume for",
        ),
        right("events.k8s.io", "events", &["create"], "effects::events", "tell people"),
    ]
}

fn reserving() -> Vec<Right> {
    let owners =
        right("*", "*", &["get"], "effects::owner", "whose a pod is, if its owner is of another kind");
    vec![
        Right { place: Place::Added, ..owners },
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
        Right { place: Place::Own, ..leases },
        Right { place: Place::System, ..authorities },
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
    Right { group, resource, verbs, place: Place::Everywhere, user, purpose }
}
