//! Why a pod is Pending, in plain words and numbers: the verdict first, then nodes grouped by what stands in the way.

mod blocked;
#[cfg(test)]
mod tests;

use super::printable;
use super::time::between;
use blocked::{Blocked, group, groups, is_kept, state_words};
use common::cluster::{Asker, Snapshot};
use common::cycle::Refusal;
use common::framework::Trace;
use common::model::{NodeName, Pod, ResourceName};
use jiff::Timestamp;

/// What there is to say about a pod.
pub(crate) enum Answer {
    /// It has ended.
    Ended,
    /// It is being deleted.
    Deleting,
    /// It has a node already.
    Bound(NodeName),
    /// It is not to be placed at all.
    Refused(Refusal),
    /// Every node was asked.
    Judged(Trace),
}

impl Answer {
    /// Whether the pod waits and no node can have it. What our scheduler refuses has no place; what another one makes
    /// of it we cannot tell.
    pub(crate) fn is_no_fit(&self, obeyed: bool) -> bool {
        match self {
            Self::Refused(_) => obeyed,
            Self::Judged(trace) => trace.feasible().next().is_none(),
            Self::Ended | Self::Deleting | Self::Bound(_) => false,
        }
    }
}

/// Everything that the text is made from.
pub(crate) struct Report<'r, 'w> {
    pub(crate) asker: &'r Asker<'w>,
    pub(crate) snapshot: &'r Snapshot<'w>,
    pub(crate) answer: &'r Answer,
    /// Whether the pod's scheduler heeds reservations.
    pub(crate) obeyed: bool,
    pub(crate) now: Timestamp,
}

/// The whole answer.
pub(crate) fn render(report: &Report<'_, '_>) -> String {
    let mut text = header(report);
    let pod = report.asker.pod;
    let verdict = match report.answer {
        Answer::Ended => "It has ended; there is nothing to place.".into(),
        Answer::Deleting => "It is being deleted; there is nothing to place.".into(),
        Answer::Bound(node) => format!(
            "It is bound to {node}, so this is not a scheduling problem.\n         See: kubectl describe pod {} -n {}",
            pod.key.name, pod.key.namespace
        ),
        Answer::Refused(refusal) => refused(report, refusal),
        Answer::Judged(trace) => return text + &judged(report, trace),
    };
    text += &format!("\nVERDICT  {verdict}\n");
    text + &said(pod)
}

/// What stands in the way of any judgement. About another scheduler's pod that says nothing.
fn refused(report: &Report<'_, '_>, refusal: &Refusal) -> String {
    if report.obeyed { refusal.to_string() } else { format!("It cannot be judged yet: {refusal}") }
}

fn header(report: &Report<'_, '_>) -> String {
    let pod = report.asker.pod;
    let asks: Vec<String> = pod
        .spec
        .requests
        .incoming
        .iter()
        .filter(|(resource, _)| *resource != ResourceName::Pods)
        .map(|(resource, amount)| format!("{resource} {}", resource.format(amount)))
        .collect();
    let asks = if asks.is_empty() { "nothing".into() } else { asks.join(", ") };
    let waits = match pod.created.filter(|_| pod.is_waiting()) {
        Some(created) => format!("   Pending {}", between(created.time(), report.now)),
        None => String::new(),
    };
    let owner = report.asker.top().map_or_else(String::new, |top| format!("   of {}/{}", top.kind, top.name));
    format!(
        "Pod {}{owner}{waits}   asks {asks}\nscheduler {}, priority {}\n",
        pod.key, pod.spec.scheduler_name, pod.spec.priority
    )
}

fn judged(report: &Report<'_, '_>, trace: &Trace) -> String {
    let blocked: Vec<Blocked<'_>> = report
        .snapshot
        .nodes()
        .zip(&trace.nodes)
        .filter(|(_, trace)| !trace.rejections.is_empty())
        .map(|(ledger, trace)| Blocked { ledger, trace, room: ledger.room_for(report.asker) })
        .collect();
    let mut text = format!("\nVERDICT  {}\n", verdict(report, trace, &blocked));
    if !blocked.is_empty() {
        text += &format!("\nBLOCKED NODES  {} of {}, each counted once\n", blocked.len(), trace.nodes.len());
        for (label, mut nodes) in groups(&blocked) {
            nodes.sort_by_key(|node| node.distance(report));
            text += &group(report, &label, &nodes);
        }
    }
    text + &said(report.asker.pod)
}

fn verdict(report: &Report<'_, '_>, trace: &Trace, blocked: &[Blocked<'_>]) -> String {
    let fits = trace.nodes.iter().filter(|node| node.rejections.is_empty());
    let names = fits.filter_map(|node| report.snapshot.name(node.id));
    let feasible: Vec<&str> = names.map(|name| name.as_str()).collect();
    if let Some((first, rest)) = feasible.split_first() {
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        return format!(
            "It fits now on {first}{more}. If it stays Pending, is a scheduler called {} running?",
            report.asker.pod.spec.scheduler_name
        );
    }
    let Some(nearest) = blocked.iter().min_by_key(|node| node.distance(report)) else {
        return "There are no nodes.".into();
    };
    let name = nearest.ledger.node.name.as_str();
    let missing: Vec<String> = nearest
        .rejections(report)
        .filter_map(|(rejection, numbers)| match numbers {
            Some((resource, numbers)) => {
                Some(format!("{resource} {} short", resource.format(numbers.short())))
            }
            None => state_words(&rejection.reason),
        })
        .collect();
    let kept = nearest.trace.rejections.iter().all(|rejection| is_kept(&rejection.reason));
    if kept {
        return format!(
            "No node fits. {name} has the room, but keeps it for others ({}).",
            missing.join(", ")
        );
    }
    format!("No node fits. The nearest is {name}: {}.", missing.join(", "))
}

/// What the scheduler itself told the pod, so that it can be found in dashboards.
fn said(pod: &Pod) -> String {
    match pod.unscheduled() {
        Some(condition) if !condition.message.is_empty() => {
            format!("\n{} said: {}\n", pod.spec.scheduler_name, printable(&condition.message))
        }
        _ => String::new(),
    }
}
