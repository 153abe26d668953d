//! How it ended, in words, with what stays and the next step.

use super::news::{clock, times};
use crate::error::{Exit, Failure};
use crate::flow::budget::{Blocked, Budget, Never};
use crate::flow::recreate::{Done, NodeSight, Outcome, Sight, Stays, Why};
use std::time::Duration;

/// Whom it was about.
pub(crate) struct Whom<'a> {
    /// The pod's name.
    pub(crate) pod: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) node: &'a str,
    /// The reservation's.
    pub(crate) seat: &'a str,
    /// Where the manifest of a bare pod is.
    pub(crate) backup: Option<&'a str>,
    /// Whether nothing else was done besides.
    pub(crate) is_alone: bool,
}

/// The last line when all went well.
pub(crate) fn summary(done: &Done, whom: &Whom<'_>, took: Duration) -> String {
    let took = match took.as_secs() {
        0..=99 => format!("{}s", took.as_secs()),
        _ => times(took),
    };
    match (&done.pod, &done.node) {
        (Some(pod), Some(node)) => format!("pod/{pod} recreated on {node}, {took}"),
        _ => format!("pod/{} evicted, {took}", whom.pod),
    }
}

/// What stays, in a sentence; none if nothing does.
pub(crate) fn kept_words(stays: Stays, whom: &Whom<'_>) -> Option<String> {
    let Whom { node, seat, namespace, .. } = whom;
    let ends = |until: Option<_>| until.map(|until| format!(" until {}", clock(until))).unwrap_or_default();
    let release = format!("kubectl reserve release {seat} -n {namespace}");
    match stays {
        Stays::Nothing | Stays::TakenBack => None,
        Stays::Taken => Some(format!("reservation {seat} is taken; the daemon releases it")),
        Stays::Reservation { until } => {
            Some(format!("reservation {seat} stays on {node}{}; {release}", ends(until)))
        }
        Stays::Perhaps { until } => {
            Some(format!("reservation {seat} may stay on {node}{}; {release}", ends(until)))
        }
        Stays::Wish => Some(format!(
            "the pod keeps its wish; kubectl annotate pod {} -n {namespace} reserve/keep-",
            whom.pod
        )),
    }
}

/// A recreation that ended before its time, as an error.
pub(crate) fn failure(outcome: &Outcome, whom: &Whom<'_>) -> Failure {
    let Outcome::Stopped { why, stays, is_evicted, must_create } = outcome else {
        return Failure::new("it did not fail");
    };
    let (message, exit) = words(why, whom);
    let mut lines = vec![message];
    if let Why::Budget(blocked) = why {
        lines.extend(choices(blocked, whom));
    }
    match (is_evicted, kept_words(*stays, whom)) {
        (false, None) => lines.push(untouched(why, *stays, whom)),
        (false, Some(kept)) => lines.push(format!("  Nothing was evicted; {kept}")),
        (true, Some(kept)) => lines.push(format!("  The pod was evicted; {kept}")),
        (true, None) => lines.push("  The pod was evicted; no reservation is left.".to_owned()),
    }
    if *must_create {
        let file = whom.backup.unwrap_or("its manifest");
        lines.push(format!("  Nobody else creates it again: kubectl create -f {file}"));
    }
    let failure = Failure::new(lines.join("\n")).exit(exit);
    match hint(why, *is_evicted, whom) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Nothing came of it, and nothing is left. Of one among many it is not for us to say what became of the others.
fn untouched(why: &Why, stays: Stays, whom: &Whom<'_>) -> String {
    let text = match (whom.is_alone, stays) {
        (true, _) if *why == Why::Lost => "Nothing was evicted.",
        (true, Stays::TakenBack) => "Nothing was changed: the reservation was taken back.",
        (true, _) => "Nothing was changed. No reservation was placed.",
        (false, Stays::TakenBack) => "It was not evicted; its reservation was taken back.",
        (false, _) => "It was not evicted.",
    };
    format!("  {text}")
}

fn words(why: &Why, whom: &Whom<'_>) -> (String, Exit) {
    let pod = format!("pod/{}", whom.pod);
    match why {
        Why::Budget(blocked) => {
            (format!("{pod} cannot be evicted now: {}", budget_words(blocked)), Exit::Budget)
        }
        Why::NotSeen(late) => {
            (format!("the reservation was not acknowledged in 10 s by {}", late.join(", ")), Exit::TimedOut)
        }
        Why::Nobody => ("no live replica of the daemon acknowledges reservations".to_owned(), Exit::Unsafe),
        Why::Denied(why) => (format!("the daemon reserves nothing for {pod}: {why}"), Exit::NoRoom),
        Why::NoRoom(lacks) => {
            (format!("no room to reserve on {}: {}", whom.node, lacks.join("; ")), Exit::NoRoom)
        }
        Why::Lost => {
            (format!("somebody removed the reservation {} from {}", whom.seat, whom.node), Exit::Error)
        }
        Why::Gone => (format!("{pod} is gone, and not by this command"), Exit::Error),
        Why::Timeout(sight) => (timeout(&pod, sight.as_deref(), whom), Exit::TimedOut),
        Why::Elsewhere { pod, node } => {
            (format!("pod/{pod} is on {node}, not on {} (--same-node=require)", whom.node), Exit::Elsewhere)
        }
        Why::ReplacementGone { pod, node } => {
            (format!("pod/{pod} came back on {node}, and was deleted or preempted there"), Exit::Error)
        }
        Why::Interrupted => ("interrupted".to_owned(), Exit::Interrupted),
        Why::Forbidden { message, .. } => {
            (format!("Error from server (Forbidden): {message}"), Exit::Forbidden)
        }
        Why::Failed(text) => (text.clone(), Exit::Error),
    }
}

fn hint(why: &Why, is_evicted: bool, whom: &Whom<'_>) -> Option<String> {
    match why {
        Why::Forbidden { needs, .. } => Some(format!("ask an administrator for: {needs}")),
        Why::Nobody => Some("kubectl reserve status; --unenforced goes on without".to_owned()),
        Why::NotSeen(_) => Some("kubectl reserve status tells which replicas lag behind".to_owned()),
        Why::Timeout(_) | Why::Interrupted if is_evicted => {
            Some(format!("go on with: kubectl reserve pod --resume {} -n {}", whom.seat, whom.namespace))
        }
        _ => None,
    }
}

/// `PodDisruptionBudget default/db needs 3 healthy pods and has 3 (maxUnavailable 0)`.
pub(super) fn budget_words(blocked: &Blocked) -> String {
    let one = |budget: &Budget| {
        format!(
            "PodDisruptionBudget {}/{} needs {} healthy pods and has {} ({})",
            budget.namespace, budget.name, budget.needs, budget.has, budget.rule
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

/// What can be done about a budget.
fn choices(blocked: &Blocked, whom: &Whom<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if !blocked.unhealthy.is_empty() {
        lines.push(format!("  Not ready: {}", blocked.unhealthy.join(", ")));
    }
    let Whom { pod, namespace, .. } = whom;
    let ignore =
        format!("    kubectl reserve pod {pod} -n {namespace} --ignore-pdb   # deletes instead of evicting");
    match (blocked.never, &blocked.budgets[..]) {
        (Some(Never::NeedsAll), [budget, ..]) => {
            lines.push(
                "  This budget never allows a disruption; waiting will not help. Choose one:".to_owned(),
            );
            let is_max = budget.rule.starts_with("maxUnavailable");
            let (field, value) = if is_max {
                ("maxUnavailable", 1)
            } else {
                ("minAvailable", budget.expected.saturating_sub(1))
            };
            lines.push(format!(
                "    kubectl patch pdb {} -n {namespace} --type=merge -p '{{\"spec\":{{\"{field}\":{value}}}}}'",
                budget.name
            ));
            lines.push(ignore);
        }
        (Some(Never::Several), [_, rest @ ..]) => {
            lines.push("  Waiting will not help. Choose one:".to_owned());
            for budget in rest {
                lines.push(format!("    kubectl delete pdb {} -n {namespace}", budget.name));
            }
            lines.push(ignore);
        }
        (Some(Never::Several), []) => lines.push(ignore),
        (None, budgets)
            if !blocked.unhealthy.is_empty() && budgets.iter().any(|one| !one.lets_unhealthy_go) =>
        {
            lines.push(
                "  Pods that are not ready can go with unhealthyPodEvictionPolicy: AlwaysAllow.".to_owned(),
            );
        }
        _ => {}
    }
    lines
}

fn timeout(pod: &str, sight: Option<&Sight>, whom: &Whom<'_>) -> String {
    let Some(sight) = sight else { return format!("timed out before {pod} could be evicted") };
    let node = match &sight.node {
        Some(NodeSight { is_gone: true, .. }) => "gone",
        Some(NodeSight { is_ready: false, .. }) => "not Ready",
        Some(NodeSight { is_cordoned: true, .. }) => "cordoned",
        Some(_) => "Ready",
        None => "not readable",
    };
    let node = format!("node {} is {node}", whom.node);
    match &sight.old {
        Some(old) if old.finalizers.is_empty() => {
            format!("timed out: {pod} is still terminating; {node}")
        }
        Some(old) => {
            format!("timed out: {pod} is still terminating, finalizers {}; {node}", old.finalizers.join(", "))
        }
        None => {
            let waits = sight.pods.iter().find(|pod| pod.node.is_none() && !pod.is_over);
            let starts = sight.pods.iter().rfind(|pod| pod.node.is_some() && !pod.is_ready && !pod.is_over);
            match (waits, starts) {
                (Some(new), _) => format!(
                    "timed out: pod/{} has no node ({}); {node}; kubectl reserve explain {} says why",
                    new.name,
                    new.waits.as_deref().unwrap_or("nobody has tried yet"),
                    new.name
                ),
                (None, Some(new)) => format!("timed out: pod/{} is not ready; {node}", new.name),
                (None, None) => {
                    format!("timed out: {pod} is gone, and nobody has made a replacement; {node}")
                }
            }
        }
    }
}
