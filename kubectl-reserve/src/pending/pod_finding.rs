//! Findings about the pod itself, before any node is looked at: ended, deleted, bound, gated, no scheduler, missing claims. Entry
//! point: [`pod_finding`].

use super::{bound_pod, storage};
use crate::cluster_data::diagnostics::Diagnostics;
use crate::explain::PodFinding;
use crate::render::printable;
use crate::render::time::between;
use common::cluster::Snapshot;
use common::model::Pod;
use common::model::pod::{Feature, Phase};
use jiff::{SignedDuration, Timestamp};

/// A pod younger than this was most likely not tried by its scheduler yet.
const JUST_CREATED: SignedDuration = SignedDuration::from_secs(2);

/// A scheduler without an event for this long is not running; the API server keeps events no longer than that.
const EVENT_AGE_MAX: SignedDuration = SignedDuration::from_hours(1);

/// How long a scheduler may take until it writes something about a new pod.
const FIRST_TRY_MAX: SignedDuration = SignedDuration::from_secs(10);

/// The code of the finding that no scheduler is responsible for the pod.
pub(crate) const NO_SCHEDULER: &str = "NoScheduler";

/// What findings are made from.
pub(crate) struct PendingInput<'a> {
    pub(crate) snapshot: &'a Snapshot<'a>,
    pub(crate) diagnostics: &'a Diagnostics,
    pub(crate) now: Timestamp,
    /// Whether the daemon is the scheduler with this name.
    pub(crate) serves: &'a dyn Fn(&str) -> bool,
    /// Whether events could be read. If not, a scheduler without events may still be running.
    pub(crate) has_events: bool,
}

/// A finding about a pod that is Pending and cannot be scheduled as things are.
pub(super) fn blocked(code: &'static str, label: impl Into<String>, words: impl Into<String>) -> PodFinding {
    PodFinding { code, label: label.into(), words: vec![words.into()], is_blocked: true }
}

/// A finding about a pod that does not have to be scheduled.
pub(super) fn not_blocked(
    code: &'static str,
    label: impl Into<String>,
    words: impl Into<String>,
) -> PodFinding {
    PodFinding { is_blocked: false, ..blocked(code, label, words) }
}

pub(super) fn with_sentence(mut finding: PodFinding, words: impl Into<String>) -> PodFinding {
    finding.words.push(words.into());
    finding
}

/// The finding about `pod`; `None` if only the nodes can tell why it is Pending.
pub(crate) fn pod_finding(pod: &Pod, input: &PendingInput<'_>) -> Option<PodFinding> {
    if pod.is_ended() {
        return Some(ended(pod, input));
    }
    if let Some(node) = &pod.node
        && input.snapshot.find(node).is_none()
        && !input.snapshot.is_empty()
    {
        let words =
            format!("It is bound to node {node}, which does not exist: no kubelet will ever start it.");
        let finding = blocked("NodeMissing", "bound to a node that does not exist", words);
        return Some(with_sentence(finding, "Delete it, so that it is made again without spec.nodeName."));
    }
    if pod.deleting {
        return Some(deleting(pod, input));
    }
    if pod.node.is_some() {
        return Some(bound_pod::bound_pod(pod, input));
    }
    if !pod.spec.gates.is_empty() {
        return Some(gated(pod));
    }
    no_scheduler(pod, input)
        .or_else(|| storage::claim_problem(pod, input))
        .or_else(|| devices(pod, input))
        .or_else(|| just_created(pod, input))
}

fn ended(pod: &Pod, input: &PendingInput<'_>) -> PodFinding {
    let detail = input.diagnostics.detail(&pod.key);
    let why = detail.map(|detail| detail.reason).filter(|reason| !reason.is_empty());
    let why = why.map_or_else(String::new, |reason| format!(" ({})", printable(&reason)));
    let how = if pod.phase == Phase::Succeeded { "ended well" } else { "failed" };
    not_blocked("Ended", "ended", format!("It has {how}{why}: nobody will place it again."))
}

fn deleting(pod: &Pod, input: &PendingInput<'_>) -> PodFinding {
    let when = match pod.deletion_timestamp() {
        Some(by) if by > input.now => format!("; its grace ends in {}", between(input.now, by)),
        Some(by) => format!("; its grace ended {} ago", between(by, input.now)),
        None => String::new(),
    };
    not_blocked("Deleting", "being deleted", format!("It is being deleted{when}."))
}

fn gated(pod: &Pod) -> PodFinding {
    let gates: Vec<String> = pod.spec.gates.iter().map(|gate| printable(gate)).collect();
    let (gates, is) = (gates.join(", "), if gates.len() == 1 { "gate" } else { "gates" });
    let words = format!("No scheduler looks at it before whoever set its scheduling {is} removes {gates}.");
    blocked("Gated", "gated", words)
}

/// A finding if no scheduler seems to be responsible for the pod.
fn no_scheduler(pod: &Pod, input: &PendingInput<'_>) -> Option<PodFinding> {
    let name = &*pod.spec.scheduler_name;
    let has_message = pod.unscheduled().is_some_and(|condition| !condition.message.is_empty());
    let is_new = pod.created.is_none_or(|created| input.now.duration_since(created.time()) < FIRST_TRY_MAX);
    if has_message || is_new || !input.has_events || (input.serves)(name) || has_recent_event(name, input) {
        return None;
    }
    let words = format!(
        "Nobody schedules it: no scheduler of the name \"{}\" (spec.schedulerName) wrote an event in the last hour.",
        printable(name)
    );
    Some(blocked(NO_SCHEDULER, "nobody schedules it", words))
}

fn has_recent_event(name: &str, input: &PendingInput<'_>) -> bool {
    let is_recent = |at: Timestamp| input.now.duration_since(at) <= EVENT_AGE_MAX;
    input.diagnostics.events.iter().any(|event| event.component == name && event.at.is_some_and(is_recent))
}

/// A finding if the pod has claims for devices: only kube-scheduler's plugin for dynamic resources evaluates these.
fn devices(pod: &Pod, input: &PendingInput<'_>) -> Option<PodFinding> {
    if !pod.spec.features.contains(Feature::DynamicResources) {
        return None;
    }
    let finding = blocked(
        "NotEvaluated",
        "claims for devices: not evaluated",
        "It claims devices (spec.resourceClaims), which is not evaluated here.",
    );
    Some(if (input.serves)(&pod.spec.scheduler_name) {
        with_sentence(finding, "Its scheduler is ours, which does not place such pods.")
    } else {
        PodFinding { is_blocked: false, ..finding }
    })
}

fn just_created(pod: &Pod, input: &PendingInput<'_>) -> Option<PodFinding> {
    let age = input.now.duration_since(pod.created?.time());
    if age >= JUST_CREATED || pod.unscheduled().is_some() {
        return None;
    }
    let words = "It was created less than 2 seconds ago: its scheduler may not have looked at it yet.";
    Some(not_blocked("JustCreated", "just created", words))
}

/// When the pod's scheduler last tried: the time of its event or of the condition that it wrote, whichever is later.
pub(crate) fn last_try(pod: &Pod, diagnostics: &Diagnostics) -> Option<Timestamp> {
    let events = diagnostics.about("Pod", &pod.key.namespace, &pod.key.name);
    let tried = events
        .iter()
        .find(|event| event.component == *pod.spec.scheduler_name && event.reason == "FailedScheduling");
    // If a pod has scheduling gates, the API server writes its condition.
    let condition = pod.unscheduled().filter(|_| pod.spec.gates.is_empty());
    let condition = condition.and_then(|condition| condition.since).map(|since| since.time());
    tried.and_then(|event| event.at).max(condition)
}
