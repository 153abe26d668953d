//! Fixes and preemption: what would help the pod, and whom it would disturb.

use crate::explain::trial::Edit;
use crate::explain::what_if;

/// A change after which the pod fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// A letter to refer to it.
    pub id: String,
    /// The kind of change, as a stable word for programs.
    pub kind: &'static str,
    /// The object that is changed, as kubectl names it.
    pub target: String,
    /// The node on which the pod would fit; `None` for a node that does not exist yet.
    pub lands_on: Option<String>,
    /// The change, in words.
    pub description: String,
    /// Who is disturbed, in words; empty if nobody is.
    pub disturbs: Vec<String>,
    /// What the change costs; how much it harms others follows from it.
    pub cost: Cost,
    /// The commands, each as a list of arguments; empty if there is no command for the change.
    pub commands: Vec<Vec<String>>,
    pub needs: Vec<RequiredRight>,
    /// Whether the caller has these rights; `None` if that is not known.
    pub allowed: Option<bool>,
    /// The changes that were tried.
    pub edits: Vec<Edit>,
}

/// What a change costs, the least harmful first; of the same harm the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Nothing, and nobody is disturbed.
    None,
    /// The pod may run on nodes that it was kept off by a taint.
    Policy,
    /// Nothing is done until a reservation ends.
    Time,
    /// The pod gets less. No pod of its workload runs yet.
    Requests,
    /// A node has to be bought or rented.
    Hardware,
    /// The pod gets less, and the pods of its workload that run are recreated.
    Rollout,
    /// Other pods are evicted and move.
    Eviction,
    /// The node is no longer what its labels and taints said: other pods may come, and pods that need them may not.
    Opens,
    /// The owner of a reservation may lose its place.
    Reservation,
    /// Other pods end.
    Scale,
}

/// Whom a change harms. Fixes are ranked by this before anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Harm {
    /// It disturbs nobody.
    Nobody,
    /// Pods are recreated: elsewhere, with a place found for each, or with lower requests.
    MovesPods,
    /// Something that others rely on is deleted, scaled down or opened.
    Disruptive,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequiredRight {
    /// The verb, as in RBAC rules.
    pub verb: &'static str,
    /// The API group, empty for the core group.
    pub group: &'static str,
    pub resource: String,
    /// The namespace; `None` for cluster-scoped resources.
    pub namespace: Option<String>,
}

/// Whether preemption would help.
#[derive(Clone, Debug, PartialEq)]
pub enum Preemption {
    /// The victims are named namespace/name, the highest priority first; `violations` of them are protected by a disruption budget.
    Possible { node: String, victims: Vec<String>, violations: usize },
    /// The reason, as a stable word for programs and for people; and a higher priority with which preemption would be possible.
    Impossible { reason: &'static str, because: String, with: Option<HigherPriority> },
}

/// A higher priority with which preemption would be possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HigherPriority {
    /// The lowest such priority.
    pub priority: i32,
    /// A priority class with at least this value, if there is one.
    pub class: Option<String>,
    pub node: String,
    /// The victims, as namespace/name.
    pub victims: Vec<String>,
}

impl Fix {
    /// Whom the fix harms.
    pub fn harm(&self) -> Harm {
        self.cost.harm()
    }

    /// The fix as an expression of `--what-if`, if it is a single change.
    pub fn what_if(&self) -> Option<String> {
        match &self.edits[..] {
            _ if self.cost == Cost::Time => None,
            [only] => what_if::expression(only),
            _ => None,
        }
    }
}

impl Harm {
    /// The harm as a stable word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nobody => "none",
            Self::MovesPods => "moves",
            Self::Disruptive => "disruptive",
        }
    }
}

impl Cost {
    /// Whom a change of this cost harms.
    pub fn harm(self) -> Harm {
        match self {
            Self::None | Self::Policy | Self::Time | Self::Requests | Self::Hardware => Harm::Nobody,
            Self::Rollout | Self::Eviction => Harm::MovesPods,
            Self::Opens | Self::Reservation | Self::Scale => Harm::Disruptive,
        }
    }

    /// The cost as a stable word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Policy => "policy",
            Self::Time => "time",
            Self::Requests => "requests",
            Self::Opens => "opens",
            Self::Rollout => "rollout",
            Self::Reservation => "reservation",
            Self::Eviction => "eviction",
            Self::Scale => "scale",
            Self::Hardware => "hardware",
        }
    }
}
