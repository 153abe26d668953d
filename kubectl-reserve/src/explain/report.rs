//! What an explanation comes to, as plain values: text and JSON are made from these.

use super::input::Input;
use super::kind::Class;
use super::trial::Edit;
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

impl Report {
    /// The fixes.
    pub fn fixes_mut(&mut self) -> &mut [Fix] {
        match &mut self.answer {
            Answer::Judged(judged) => &mut judged.fixes,
            _ => &mut [],
        }
    }

    /// All rights that any of the fixes needs, each once.
    pub fn needs(&self) -> std::collections::BTreeSet<Right> {
        match &self.answer {
            Answer::Judged(judged) => judged.fixes.iter().flat_map(|fix| fix.needs.iter().cloned()).collect(),
            _ => std::collections::BTreeSet::new(),
        }
    }

    /// Notes which of the rights the caller has; `None` for one that could not be asked about.
    pub fn note_rights(&mut self, has: impl Fn(&Right) -> Option<bool>) {
        for fix in self.fixes_mut().iter_mut().filter(|fix| !fix.needs.is_empty()) {
            fix.allowed = fix.needs.iter().try_fold(true, |all, right| Some(all && has(right)?));
        }
    }
}

impl Fix {
    /// The change as `--what-if` takes it, if it is a single one.
    pub fn what_if(&self) -> Option<String> {
        match &self.edits[..] {
            [only] => super::what_if::expression(only),
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

impl OwnerName {
    /// `deployment/web`, as kubectl takes it.
    pub fn reference(&self) -> String {
        format!("{}/{}", self.kind.to_lowercase(), self.name)
    }

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
