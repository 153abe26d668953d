//! How a recreation ended: the summary, or the error with what is left in the cluster and the next step.

use super::progress::{clock, times};
use crate::error::{Exit, Failure};
use crate::flow::budget::{BlockedEviction, Budget, BudgetChange, PermanentReason};
use crate::flow::recreate::{Leftover, NodeObservation, Observation, RecreationOutcome, StopReason, Success};
use std::time::Duration;

pub(crate) struct RecreateSubject<'a> {
    /// The pod's name.
    pub(crate) pod: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) node: &'a str,
    pub(crate) seat: &'a str,
    /// The file with the manifest of a pod without controller.
    pub(crate) backup: Option<&'a str>,
    /// `evicted`, or `deleted` with `--ignore-pdb`.
    pub(crate) removed: &'a str,
    /// Whether the command recreates only this pod.
    pub(crate) is_alone: bool,
}

/// The last line after a success.
pub(crate) fn summary(done: &Success, subject: &RecreateSubject<'_>, took: Duration) -> String {
    let took = match took.as_secs() {
        0..=99 => format!("{}s", took.as_secs()),
        _ => times(took),
    };
    match (&done.pod, &done.node) {
        (Some(pod), Some(node)) => format!("pod/{pod} recreated on {node}, {took}"),
        _ => format!("pod/{} {}, {took}", subject.pod, subject.removed),
    }
}

/// A sentence about what is left in the cluster; `None` if nothing is.
pub(crate) fn kept_words(leftover: Leftover, subject: &RecreateSubject<'_>) -> Option<String> {
    let RecreateSubject { node, seat, namespace, .. } = subject;
    let ends = |until: Option<_>| until.map(|until| format!(" until {}", clock(until))).unwrap_or_default();
    let release = format!("kubectl reserve release {seat} -n {namespace}");
    match leftover {
        Leftover::Nothing | Leftover::TakenBack => None,
        Leftover::Taken => Some(format!("reservation {seat} is taken; the daemon releases it")),
        Leftover::Reservation { until } => {
            Some(format!("reservation {seat} stays on {node}{}; {release}", ends(until)))
        }
        Leftover::Perhaps { until } => {
            Some(format!("reservation {seat} may stay on {node}{}; {release}", ends(until)))
        }
        Leftover::KeepAnnotation => Some(format!(
            "the pod keeps its wish; kubectl annotate pod {} -n {namespace} reserve/keep-",
            subject.pod
        )),
    }
}

/// The error for a recreation that did not finish.
pub(crate) fn failure(outcome: &RecreationOutcome, subject: &RecreateSubject<'_>) -> Failure {
    let RecreationOutcome::Stopped { why, leftover, is_evicted, must_create } = outcome else {
        return Failure::new("it did not fail");
    };
    let (message, exit) = words(why, subject);
    let mut lines = vec![message];
    if let StopReason::Budget(blocked) = why {
        lines.extend(choices(blocked, subject));
    }
    match (is_evicted, kept_words(*leftover, subject)) {
        (false, None) => lines.push(untouched(why, *leftover, subject)),
        (false, Some(kept)) => lines.push(format!("  Nothing was {}; {kept}", subject.removed)),
        (true, Some(kept)) => lines.push(format!("  The pod was {}; {kept}", subject.removed)),
        (true, None) => {
            lines.push(format!("  The pod was {}; no reservation is left.", subject.removed));
        }
    }
    if *must_create {
        let file = subject.backup.unwrap_or("its manifest");
        lines.push(format!("  Nobody else creates it again: kubectl create -f {file}"));
    }
    let failure = Failure::new(lines.join("\n")).exit(exit);
    match hint(why, *is_evicted, subject) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The sentence for a pod that was not evicted and has no reservation left. If it is one of many, the sentence is only about this
/// pod.
fn untouched(why: &StopReason, leftover: Leftover, subject: &RecreateSubject<'_>) -> String {
    let text = match (subject.is_alone, leftover) {
        (true, _) if *why == StopReason::Lost => "Nothing was evicted.",
        (true, Leftover::TakenBack) => "Nothing was changed: the reservation was taken back.",
        (true, _) => "Nothing was changed. No reservation was placed.",
        (false, Leftover::TakenBack) => "It was not evicted; its reservation was taken back.",
        (false, _) => "It was not evicted.",
    };
    format!("  {text}")
}

fn words(why: &StopReason, subject: &RecreateSubject<'_>) -> (String, Exit) {
    let pod = format!("pod/{}", subject.pod);
    match why {
        StopReason::Budget(blocked) => {
            (format!("{pod} cannot be evicted now: {}", budget_words(blocked)), Exit::Budget)
        }
        StopReason::NotSeen(late) => {
            (format!("the reservation was not acknowledged in 10 s by {}", late.join(", ")), Exit::TimedOut)
        }
        StopReason::Nobody => {
            ("no live replica of the daemon acknowledges reservations".to_owned(), Exit::Unsafe)
        }
        StopReason::Denied(why) => (format!("the daemon reserves nothing for {pod}: {why}"), Exit::NoRoom),
        StopReason::NoRoom(lacks) => {
            (format!("no room to reserve on {}: {}", subject.node, lacks.join("; ")), Exit::NoRoom)
        }
        StopReason::Lost => {
            (format!("somebody removed the reservation {} from {}", subject.seat, subject.node), Exit::Error)
        }
        StopReason::Gone => (format!("{pod} is gone, and not by this command"), Exit::Error),
        StopReason::Timeout(observation) => (timeout(&pod, observation.as_deref(), subject), Exit::TimedOut),
        StopReason::Elsewhere { pod, node } => (
            format!("pod/{pod} is on {node}, not on {} (--same-node=require)", subject.node),
            Exit::Elsewhere,
        ),
        StopReason::ReplacementGone { pod, node } => {
            (format!("pod/{pod} came back on {node}, and was deleted or preempted there"), Exit::Error)
        }
        StopReason::Interrupted => ("interrupted".to_owned(), Exit::Interrupted),
        StopReason::Forbidden { message, .. } => {
            (format!("Error from server (Forbidden): {message}"), Exit::Forbidden)
        }
        StopReason::Failed(text) => (text.clone(), Exit::Error),
    }
}

fn hint(why: &StopReason, is_evicted: bool, subject: &RecreateSubject<'_>) -> Option<String> {
    match why {
        StopReason::Forbidden { needs, .. } => Some(format!("ask an administrator for: {needs}")),
        StopReason::Nobody => Some("kubectl reserve status; --unenforced goes on without".to_owned()),
        StopReason::NotSeen(_) => Some("kubectl reserve status tells which replicas lag behind".to_owned()),
        StopReason::Timeout(_) | StopReason::Interrupted if is_evicted => Some(format!(
            "go on with: kubectl reserve pod --resume {} -n {}",
            subject.seat, subject.namespace
        )),
        _ => None,
    }
}

/// The budgets in words: `PodDisruptionBudget default/db needs 3 healthy pods and has 3 (maxUnavailable 0)`.
pub(super) fn budget_words(blocked: &BlockedEviction) -> String {
    let one = |budget: &Budget| {
        format!(
            "PodDisruptionBudget {}/{} needs {} healthy pod{} and has {} ({})",
            budget.namespace,
            budget.name,
            budget.needs,
            if budget.needs == 1 { "" } else { "s" },
            budget.has,
            budget.rule
        )
    };
    match &blocked.budgets[..] {
        [] => blocked.message.clone(),
        [budget] => one(budget),
        several => {
            let names: Vec<String> =
                several.iter().map(|budget| format!("{}/{}", budget.namespace, budget.name)).collect();
            format!(
                "it is under {} PodDisruptionBudgets, and only one is supported: {}",
                several.len(),
                names.join(", ")
            )
        }
    }
}

/// What the user can do about a budget that blocks the eviction.
fn choices(blocked: &BlockedEviction, subject: &RecreateSubject<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if !blocked.unhealthy.is_empty() {
        lines.push(format!("  Not ready: {}", blocked.unhealthy.join(", ")));
    }
    let changes: Vec<String> = blocked
        .changes()
        .iter()
        .map(|change| format!("    {}", change_command(change, subject.namespace)))
        .collect();
    let lead = match blocked.permanent {
        Some(PermanentReason::NeedsAll) => {
            "This budget never allows a disruption; waiting will not help. Choose one:"
        }
        Some(PermanentReason::Several) => "Waiting will not help. Choose one:",
        // Waiting is better than to weaken the budget, unless it is the pod itself that is not ready.
        None if blocked.is_ready || changes.is_empty() => return lines,
        None => "The pod itself is not ready. This would allow it:",
    };
    lines.push(format!("  {lead}"));
    lines.extend(changes);
    if blocked.permanent.is_some() {
        let RecreateSubject { pod, namespace, .. } = subject;
        lines.push(format!(
            "    kubectl reserve pod {pod} -n {namespace} --ignore-pdb   # deletes instead of evicting"
        ));
    }
    lines
}

/// The command for a change of budgets in one namespace.
fn change_command(change: &BudgetChange, namespace: &str) -> String {
    match change {
        BudgetChange::Set { budget, field, value } => {
            format!(
                "kubectl patch pdb {budget} -n {namespace} --type=merge -p '{{\"spec\":{{\"{field}\":{value}}}}}'"
            )
        }
        BudgetChange::Delete(budgets) => format!("kubectl delete pdb {} -n {namespace}", budgets.join(" ")),
    }
}

fn timeout(pod: &str, observation: Option<&Observation>, subject: &RecreateSubject<'_>) -> String {
    let Some(observation) = observation else { return format!("timed out before {pod} could be evicted") };
    let node = match &observation.node {
        Some(NodeObservation { is_gone: true, .. }) => "gone",
        Some(NodeObservation { is_ready: false, .. }) => "not Ready",
        Some(NodeObservation { is_cordoned: true, .. }) => "cordoned",
        Some(_) => "Ready",
        None => "not readable",
    };
    let node = format!("node {} is {node}", subject.node);
    match &observation.old {
        Some(old) if old.finalizers.is_empty() => {
            format!("timed out: {pod} is still terminating; {node}")
        }
        Some(old) => {
            format!("timed out: {pod} is still terminating, finalizers {}; {node}", old.finalizers.join(", "))
        }
        None => {
            let waits = observation.pods.iter().find(|pod| pod.node.is_none() && !pod.is_over);
            let starts =
                observation.pods.iter().rfind(|pod| pod.node.is_some() && !pod.is_ready && !pod.is_over);
            match (waits, starts) {
                (Some(new), _) => format!(
                    "timed out: pod/{} has no node ({}); {node}; kubectl reserve explain {} -n {} says why",
                    new.name,
                    new.waits.as_deref().unwrap_or("nobody has tried yet"),
                    new.name,
                    subject.namespace
                ),
                (None, Some(new)) => format!("timed out: pod/{} is not ready; {node}", new.name),
                (None, None) => {
                    format!("timed out: {pod} is gone, and nobody has made a replacement; {node}")
                }
            }
        }
    }
}
