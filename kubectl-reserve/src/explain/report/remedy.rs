//! What would help a pod, and at whose cost.

use crate::explain::trial::Edit;
use crate::explain::what_if;

/// Something that would help: after it the pod fits on the node that it names.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// A letter by which people can speak of it.
    pub id: String,
    /// What sort of change it is.
    pub kind: &'static str,
    /// What is changed, as kubectl names it.
    pub target: String,
    /// Where the pod would fit; `None` for a node that is not there yet.
    pub lands_on: Option<String>,
    /// What is done, in plain words.
    pub what: String,
    /// Who is disturbed, in plain words; empty if nobody is.
    pub disturbs: Vec<String>,
    /// How bad that is.
    pub cost: Cost,
    /// The commands, word by word; none where there is no command for it.
    pub commands: Vec<Vec<String>>,
    /// The rights that the commands need.
    pub needs: Vec<Right>,
    /// Whether the caller has them; `None` if nobody asked.
    pub allowed: Option<bool>,
    /// The change itself, as it was tried.
    pub edits: Vec<Edit>,
}

/// How bad a change is for others, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Nobody notices.
    None,
    /// The pod goes where it was not meant to go.
    Policy,
    /// Pods that were kept away may come.
    Opens,
    /// The pod's own workload is rolled.
    Rollout,
    /// Somebody may lose a place that is kept.
    Reservation,
    /// Other pods have to move.
    Eviction,
    /// Other pods end.
    Scale,
    /// Somebody has to pay for it.
    Hardware,
}

/// A right that somebody needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    /// The verb.
    pub verb: &'static str,
    /// The API group, empty for the core group.
    pub group: &'static str,
    /// The resource, with its subresource if it is about one.
    pub resource: String,
    /// The namespace; `None` for what has none.
    pub namespace: Option<String>,
}

/// Whether other pods could be made to go for this one.
#[derive(Clone, Debug, PartialEq)]
pub enum Preemption {
    /// They could.
    Possible {
        /// Where.
        node: String,
        /// Who would have to go, as namespace/name, the most important first.
        victims: Vec<String>,
        /// How many of them a disruption budget protects.
        violations: usize,
    },
    /// They could not.
    Impossible {
        /// Why, in one word.
        reason: &'static str,
        /// Why, in plain words.
        because: String,
        /// With this priority they could, on this node.
        with: Option<WithPriority>,
    },
}

/// What a higher priority would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithPriority {
    /// The lowest that would do.
    pub priority: i32,
    /// A priority class that has as much, if there is one.
    pub class: Option<String>,
    /// Where.
    pub node: String,
    /// Who would have to go.
    pub victims: Vec<String>,
}

impl Fix {
    /// The change as `--what-if` takes it, if it is a single one.
    pub fn what_if(&self) -> Option<String> {
        match &self.edits[..] {
            [only] => what_if::expression(only),
            _ => None,
        }
    }
}

impl Cost {
    /// The cost in one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Policy => "policy",
            Self::Opens => "opens",
            Self::Rollout => "rollout",
            Self::Reservation => "reservation",
            Self::Eviction => "eviction",
            Self::Scale => "scale",
            Self::Hardware => "hardware",
        }
    }
}
