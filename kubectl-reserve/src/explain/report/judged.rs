//! What all nodes said about a pod.

use super::{Fix, OwnerName, Preemption};
use crate::explain::kind::Class;
use common::framework::Numbers;
use common::model::ResourceName;
use jiff::Timestamp;

/// What all nodes said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// How many nodes there are.
    pub nodes: usize,
    /// Those that can have the pod.
    pub fits: Vec<String>,
    /// The node that the pod waits for because it is kept for it.
    pub awaits: Option<Awaits>,
    /// What it comes to, in plain words.
    pub verdict: Vec<String>,
    /// What is in the way on most nodes of the right kind.
    pub dominant: Option<Dominant>,
    /// The nodes that cannot, each in one group; the largest first.
    pub groups: Vec<Group>,
    /// `pool` or `zone` if the groups are by that rather than by what stands in the way.
    pub folded_by: Option<&'static str>,
    /// Those that come nearest, the nearest first.
    pub misses: Vec<Miss>,
    /// What would help, the cheapest first.
    pub fixes: Vec<Fix>,
    /// How many more fixes there are.
    pub more_fixes: usize,
    /// Whether other pods could be made to go; `None` if that was not asked, or is not needed.
    pub preemption: Option<Preemption>,
    /// Where the explanation and the scheduler differ, and other things worth knowing.
    pub notes: Vec<String>,
}

/// A node that is kept for the pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Awaits {
    /// The node.
    pub node: String,
    /// Why it cannot have it yet.
    pub because: String,
    /// How many seconds more it waits at most; `None` for as long as the node is kept.
    pub for_at_most: Option<i64>,
}

/// What is in the way on most nodes of the right kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominant {
    /// Its code.
    pub code: String,
    /// The same for people.
    pub label: String,
    /// On how many nodes.
    pub nodes: usize,
    /// Of how many of the right kind.
    pub of: usize,
    /// Which node comes nearest, and what it lacks, if that is about amounts.
    pub nearest: Option<String>,
}

/// Nodes with the same in the way, or of the same pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What puts them together, for people.
    pub label: String,
    /// The codes of what is in the way.
    pub codes: Vec<String>,
    /// The nodes, the nearest first.
    pub nodes: Vec<String>,
    /// What is to be said about some of them, nodes with the same words together.
    pub members: Vec<Member>,
}

/// Nodes of a group about which the same is to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The nodes.
    pub nodes: Vec<String>,
    /// What is to be said.
    pub words: String,
}

/// A node that cannot have the pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Miss {
    /// Its name.
    pub name: String,
    /// How near it comes: 1 is the nearest.
    pub rank: usize,
    /// What is in the way.
    pub blockers: Vec<Blocker>,
    /// What it has of everything that the pod asks for.
    pub figures: Vec<Figure>,
    /// For whom it keeps room that the pod lacks.
    pub keeps: Vec<Keeper>,
}

/// One thing that is in the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocker {
    /// The filter that says so.
    pub filter: &'static str,
    /// A word for it that stays the same.
    pub code: String,
    /// What sort of thing it is.
    pub class: Class,
    /// What kube-scheduler says of it.
    pub upstream: String,
    /// The same in a few plain words.
    pub label: String,
    /// The particulars: which taint, label, port, volume or pod.
    pub evidence: Option<String>,
    /// The numbers, if it is about an amount.
    pub figure: Option<Figure>,
}

/// An amount in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Of what.
    pub resource: ResourceName,
    /// The numbers.
    pub numbers: Numbers,
}

/// A reservation on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keeper {
    /// What `list` calls it: its seat, or the owner's UID.
    pub name: String,
    /// Whose it is, if that is known.
    pub owner: Option<OwnerName>,
    /// What it keeps of what the pod asks for.
    pub keeps: Vec<(ResourceName, i64)>,
    /// When it ends; `None` for never.
    pub expires: Option<Timestamp>,
}

impl Figure {
    /// What is left; negative when more is promised than there is.
    pub fn free(&self) -> i64 {
        self.numbers.free()
    }

    /// What is missing.
    pub fn short(&self) -> i64 {
        self.numbers.short()
    }

    /// An amount of it, as kubectl would show it.
    pub fn show(&self, amount: i64) -> String {
        if amount == 0 { "0".to_owned() } else { self.resource.format(amount) }
    }
}
