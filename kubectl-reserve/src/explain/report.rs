//! What an explanation comes to, as plain values: text and JSON are made from these.

use super::input::Input;
use super::kind::Class;
use common::cluster::Snapshot;
use common::framework::Numbers;
use common::model::{ResourceName, Resources};
use jiff::Timestamp;

/// The whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Which pod.
    pub about: About,
    /// What is the matter with it.
    pub answer: Answer,
    /// What its scheduler told it.
    pub said: Option<String>,
    /// What autoscalers said about it.
    pub autoscaler: Vec<Autoscaler>,
}

/// The pod.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// The topmost owner that was found.
    pub owner: Option<OwnerName>,
    /// Whom it waits for.
    pub scheduler: String,
    /// Whether that one obeys reservations.
    pub obeyed: bool,
    /// Its priority.
    pub priority: i32,
    /// What it asks for.
    pub asks: Resources,
    /// Since when it waits to be placed.
    pub waits_since: Option<Timestamp>,
    /// When its scheduler last tried.
    pub last_try: Option<Timestamp>,
    /// When all this was so.
    pub now: Timestamp,
}

/// An owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerName {
    /// Its kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// What is the matter with a pod.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It has ended.
    Ended,
    /// It is being deleted.
    Deleting,
    /// It has this node already.
    Bound(String),
    /// It is not to be placed at all, in these words.
    Refused(String),
    /// It could not be judged.
    Failed(String),
    /// Every node was asked.
    Judged(Box<Judged>),
    /// Something is to be said about it before any node is asked.
    Stated(Stated),
}

/// What is to be said about a pod whatever the nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated {
    /// A word for it that stays the same.
    pub code: &'static str,
    /// The same for people, in a few words.
    pub label: String,
    /// In plain sentences.
    pub words: Vec<String>,
    /// Whether the pod waits and cannot be placed as things are.
    pub is_blocked: bool,
}

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
    /// Whether the groups are by pool or by zone rather than by what stands in the way.
    pub is_folded: bool,
    /// Those that come nearest, the nearest first.
    pub misses: Vec<Miss>,
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
    /// Until when it waits; `None` for as long as the node is kept.
    pub until: Option<Timestamp>,
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

/// What an autoscaler said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Autoscaler {
    /// Which one.
    pub source: String,
    /// In one word.
    pub reason: String,
    /// In many.
    pub message: String,
    /// When.
    pub at: Option<Timestamp>,
}

impl Report {
    /// Whether the pod waits and no node can have it now. What our scheduler refuses has no place; what another one makes of
    /// it we cannot tell.
    pub fn is_no_fit(&self) -> bool {
        match &self.answer {
            Answer::Refused(_) => self.about.obeyed,
            Answer::Judged(judged) => judged.fits.is_empty() || judged.awaits.is_some(),
            Answer::Stated(stated) => stated.is_blocked,
            Answer::Ended | Answer::Deleting | Answer::Bound(_) | Answer::Failed(_) => false,
        }
    }
}

impl OwnerName {
    /// The owner as a value of its own.
    pub fn new(owner: &common::model::Owner) -> Self {
        let text = |text: &str| text.to_owned();
        Self { kind: text(&owner.kind), namespace: text(&owner.namespace), name: text(&owner.name) }
    }
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

/// What there is to say about the pod whatever the nodes.
pub(super) fn about(input: &Input<'_>, snapshot: &Snapshot<'_>) -> About {
    let pod = input.pod;
    let asker = snapshot.asker(pod);
    About {
        namespace: pod.key.namespace.to_string(),
        name: pod.key.name.to_string(),
        uid: pod.uid.to_string(),
        owner: asker.top().map(|top| OwnerName::new(&top.owner())),
        scheduler: pod.spec.scheduler_name.to_string(),
        obeyed: input.rules.are_obeyed(pod),
        priority: pod.spec.priority,
        asks: pod.spec.requests.incoming.clone(),
        waits_since: pod.created.filter(|_| pod.is_waiting()).map(|created| created.time()),
        last_try: input.last_try,
        now: input.now,
    }
}
