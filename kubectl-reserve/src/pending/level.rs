//! The pod's own state: bound, ended, gated, or in need of something that no node can give.

use super::{bound, storage};
use crate::explain::Stated;
use crate::render::printable;
use crate::render::time::between;
use crate::world::notes::Notes;
use common::cluster::Snapshot;
use common::model::Pod;
use common::model::pod::{Feature, Phase};
use jiff::{SignedDuration, Timestamp};

/// A pod younger than this has most likely not been looked at by anybody.
const JUST_CREATED: SignedDuration = SignedDuration::from_secs(2);

/// A scheduler that was silent for so long is not there; events are kept no longer.
const SILENT: SignedDuration = SignedDuration::from_hours(1);

/// How long a scheduler may take until it says something about a new pod.
const PATIENCE: SignedDuration = SignedDuration::from_secs(10);

/// What is read.
pub(crate) struct View<'a> {
    pub(crate) snapshot: &'a Snapshot<'a>,
    pub(crate) notes: &'a Notes,
    pub(crate) now: Timestamp,
    /// Whether a replica of ours places pods of the scheduler with this name.
    pub(crate) serves: &'a dyn Fn(&str) -> bool,
    /// Whether events could be read: if not, silence means nothing.
    pub(crate) has_events: bool,
}

/// Sentences about a pod that waits and cannot be placed as things are.
pub(super) fn blocked(code: &'static str, label: impl Into<String>, words: impl Into<String>) -> Stated {
    Stated { code, label: label.into(), words: vec![words.into()], is_blocked: true }
}

/// Sentences about a pod that need not be placed.
pub(super) fn harmless(code: &'static str, label: impl Into<String>, words: impl Into<String>) -> Stated {
    Stated { is_blocked: false, ..blocked(code, label, words) }
}

/// One sentence more.
pub(super) fn and(mut stated: Stated, words: impl Into<String>) -> Stated {
    stated.words.push(words.into());
    stated
}

/// What there is to say about `pod` whatever the nodes; nothing if it is up to them.
pub(crate) fn level(pod: &Pod, view: &View<'_>) -> Option<Stated> {
    if pod.is_ended() {
        return Some(ended(pod, view));
    }
    if let Some(node) = &pod.node
        && view.snapshot.find(node).is_none()
        && !view.snapshot.is_empty()
    {
        let words =
            format!("It is bound to node {node}, which does not exist: no kubelet will ever start it.");
        let stated = blocked("NodeMissing", "bound to a node that does not exist", words);
        return Some(and(stated, "Delete it, so that it is made again without spec.nodeName."));
    }
    if pod.deleting {
        return Some(deleting(pod, view));
    }
    if pod.node.is_some() {
        return Some(bound::bound(pod, view));
    }
    if !pod.spec.gates.is_empty() {
        return Some(gated(pod));
    }
    unserved(pod, view)
        .or_else(|| storage::unready(pod, view))
        .or_else(|| devices(pod, view))
        .or_else(|| fresh(pod, view))
}

fn ended(pod: &Pod, view: &View<'_>) -> Stated {
    let detail = view.notes.detail(&pod.key);
    let why = detail.map(|detail| detail.reason).filter(|reason| !reason.is_empty());
    let why = why.map_or_else(String::new, |reason| format!(" ({})", printable(&reason)));
    let how = if pod.phase == Phase::Succeeded { "ended well" } else { "failed" };
    harmless("Ended", "ended", format!("It has {how}{why}: nobody will place it again."))
}

fn deleting(pod: &Pod, view: &View<'_>) -> Stated {
    let when = match pod.gone_by() {
        Some(by) if by > view.now => format!("; its grace ends in {}", between(view.now, by)),
        Some(by) => format!("; its grace ended {} ago", between(by, view.now)),
        None => String::new(),
    };
    harmless("Deleting", "being deleted", format!("It is being deleted{when}."))
}

fn gated(pod: &Pod) -> Stated {
    let gates: Vec<String> = pod.spec.gates.iter().map(|gate| printable(gate)).collect();
    let (gates, is) = (gates.join(", "), if gates.len() == 1 { "gate" } else { "gates" });
    let words = format!("No scheduler looks at it before whoever set its scheduling {is} removes {gates}.");
    blocked("Gated", format!("gated by {gates}"), words)
}

/// Whether nobody feels called upon to place the pod.
fn unserved(pod: &Pod, view: &View<'_>) -> Option<Stated> {
    let name = &*pod.spec.scheduler_name;
    let is_told = pod.unscheduled().is_some_and(|told| !told.message.is_empty());
    let is_fresh = pod.created.is_none_or(|created| view.now.duration_since(created.time()) < PATIENCE);
    if is_told || is_fresh || !view.has_events || (view.serves)(name) || has_spoken(name, view) {
        return None;
    }
    let words = format!(
        "Nobody schedules it: no scheduler of the name \"{}\" (spec.schedulerName) wrote an event in the last hour.",
        printable(name)
    );
    Some(blocked("NoScheduler", "nobody schedules it", words))
}

fn has_spoken(name: &str, view: &View<'_>) -> bool {
    let is_recent = |at: Timestamp| view.now.duration_since(at) <= SILENT;
    view.notes.events.iter().any(|event| event.component == name && event.at.is_some_and(is_recent))
}

/// Claims for devices: only kube-scheduler's own plugin knows about those.
fn devices(pod: &Pod, view: &View<'_>) -> Option<Stated> {
    if !pod.spec.features.contains(Feature::DynamicResources) {
        return None;
    }
    let stated = blocked(
        "NotEvaluated",
        "claims for devices: not evaluated",
        "It claims devices (spec.resourceClaims), which is not evaluated here.",
    );
    Some(if (view.serves)(&pod.spec.scheduler_name) {
        and(stated, "Its scheduler is ours, which does not place such pods.")
    } else {
        Stated { is_blocked: false, ..stated }
    })
}

fn fresh(pod: &Pod, view: &View<'_>) -> Option<Stated> {
    let age = view.now.duration_since(pod.created?.time());
    if age >= JUST_CREATED || pod.unscheduled().is_some() {
        return None;
    }
    let words = "It was created less than 2 seconds ago: its scheduler may not have looked at it yet.";
    Some(harmless("JustCreated", "just created", words))
}

/// When the pod's scheduler last tried: by its events, else by the condition that it wrote.
pub(crate) fn last_try(pod: &Pod, notes: &Notes) -> Option<Timestamp> {
    let events = notes.about("Pod", &pod.key.namespace, &pod.key.name);
    let tried = events
        .iter()
        .find(|event| event.component == *pod.spec.scheduler_name && event.reason == "FailedScheduling");
    let condition = pod.unscheduled().and_then(|condition| condition.since).map(|since| since.time());
    tried.and_then(|event| event.at).max(condition)
}
