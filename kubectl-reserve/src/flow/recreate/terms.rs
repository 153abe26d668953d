//! How a pod is to be recreated.

use std::collections::BTreeSet;
use std::time::Duration;

/// How a pod is to be recreated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Its UID: another pod of the same name is another pod.
    pub uid: String,
    /// Its name, if the replacement has the same one.
    pub same_name: Option<String>,
    /// The node whose room is kept.
    pub node: String,
    /// Whether that is the pod's own; a drain keeps room elsewhere.
    pub is_home: bool,
    /// How the room is kept.
    pub keeping: Keeping,
    /// What `reserve/seat` says on the pod that takes it.
    pub seat: Option<String>,
    /// Whether the pod is on its way out already, so that nobody need evict it.
    pub is_leaving: bool,
    /// Whether it is gone already: a run that is taken up again.
    pub is_gone: bool,
    /// The pods of the owner that were there before.
    pub known: BTreeSet<String>,
    /// Whether somebody who acknowledges it is insisted on.
    pub is_enforced: bool,
    /// Whether the replacement is to be made by us.
    pub creates: bool,
    /// What is waited for.
    pub until: Until,
    /// Whether a replacement elsewhere is a failure.
    pub is_required: bool,
    /// How long it may take altogether.
    pub timeout: Duration,
}

/// How the room is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// With a reservation that we write to the node.
    Reservation,
    /// With a reservation that the daemon makes because the pod wishes it.
    Wish,
    /// Not at all.
    Nothing,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Until {
    /// The eviction.
    Evicted,
    /// That the pod is gone.
    Deleted,
    /// That the replacement has a node.
    Bound,
    /// That it is ready.
    Ready,
}
