//! What an explanation comes to, as plain values: text and JSON are made from these.

mod judged;
mod remedy;

use super::input::Input;
use common::cluster::Snapshot;
use common::model::Resources;
use jiff::Timestamp;

pub use judged::{Awaits, Blocker, Dominant, Figure, Group, Judged, Keeper, Member, Miss};
pub use remedy::{Cost, Fix, Preemption, Right, WithPriority};

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
    /// Whether that one enforces reservations.
    pub enforced: bool,
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
            Answer::Refused(_) => self.about.enforced,
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

/// What there is to say about the pod whatever the nodes.
pub(super) fn about(input: &Input<'_>, snapshot: &Snapshot<'_>) -> About {
    let pod = input.pod;
    let pod_context = snapshot.pod_context(pod);
    About {
        namespace: pod.key.namespace.to_string(),
        name: pod.key.name.to_string(),
        uid: pod.uid.to_string(),
        owner: pod_context.top().map(|top| OwnerName::new(&top.owner())),
        scheduler: pod.spec.scheduler_name.to_string(),
        enforced: input.rules.are_enforced(pod),
        priority: pod.spec.priority,
        asks: pod.spec.requests.incoming.clone(),
        waits_since: pod.created.filter(|_| pod.is_waiting()).map(|created| created.time()),
        last_try: input.last_try,
        now: input.now,
    }
}
