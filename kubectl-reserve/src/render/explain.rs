//! Why a pod is Pending, in plain words and numbers: the verdict first, then nodes grouped by what stands in the way.

use super::list::owner;
use super::table::table;
use super::time::between;
use common::cluster::ledger::{Entry, Room};
use common::cluster::{Asker, Cluster, Ledger, Snapshot};
use common::cycle::{NodeTrace, Refusal, Trace};
use common::framework::{Cure, Numbers, Reason, Rejection};
use common::model::{NodeName, Pod, ResourceName};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// Nodes shown of each group; the nearest come first.
const NODES_SHOWN: usize = 5;

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
    /// Whether the pod waits and no node can have it.
    pub(crate) fn is_no_fit(&self) -> bool {
        match self {
            Self::Refused(_) => true,
            Self::Judged(trace) => trace.feasible().next().is_none(),
            Self::Ended | Self::Deleting | Self::Bound(_) => false,
        }
    }
}

/// Everything that the text is made from.
pub(crate) struct Report<'r, 'w> {
    pub(crate) asker: &'r Asker<'w>,
    pub(crate) cluster: &'r Cluster,
    pub(crate) snapshot: &'r Snapshot<'w>,
    pub(crate) answer: &'r Answer,
    /// Whether the pod's scheduler heeds reservations.
    pub(crate) obeyed: bool,
    pub(crate) now: Timestamp,
}

/// One node that cannot have the pod.
struct Blocked<'r, 'w> {
    ledger: &'r Ledger<'w>,
    trace: &'r NodeTrace,
    room: Room<'r, 'w>,
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
        Answer::Refused(refusal) => refusal.to_string(),
        Answer::Judged(trace) => return text + &judged(report, trace),
    };
    text += &format!("\nVERDICT  {verdict}\n");
    text + &said(pod)
}

fn header(report: &Report<'_, '_>) -> String {
    let pod = report.asker.pod;
    let asks: Vec<String> = pod
        .requests
        .incoming
        .iter()
        .filter(|(resource, _)| *resource != ResourceName::Pods)
        .map(|(resource, amount)| format!("{resource} {}", resource.format(amount)))
        .collect();
    let asks = if asks.is_empty() { "nothing".into() } else { asks.join(", ") };
    let waits = match pod.created.filter(|_| pod.is_waiting()) {
        Some(created) => format!("   Pending {}", between(created, report.now)),
        None => String::new(),
    };
    let owner = report.asker.top().map_or_else(String::new, |top| format!("   of {}/{}", top.kind, top.name));
    format!(
        "Pod {}{owner}{waits}   asks {asks}\nscheduler {}, priority {}\n",
        pod.key, pod.scheduler_name, pod.priority
    )
}

fn judged(report: &Report<'_, '_>, trace: &Trace) -> String {
    let blocked: Vec<Blocked<'_, '_>> = report
        .snapshot
        .nodes
        .iter()
        .zip(&trace.nodes)
        .filter(|(_, trace)| !trace.rejections.is_empty())
        .map(|(ledger, trace)| Blocked { ledger, trace, room: ledger.room_for(report.asker) })
        .collect();
    let mut text = format!("\nVERDICT  {}\n", verdict(report, trace, &blocked));
    if !blocked.is_empty() {
        text += &format!("\nBLOCKED NODES  {} of {}, each counted once\n", blocked.len(), trace.nodes.len());
        for (label, mut nodes) in groups(&blocked) {
            nodes.sort_by_key(|node| node.distance());
            text += &group(report, &label, &nodes);
        }
    }
    text + &said(report.asker.pod)
}

fn verdict(report: &Report<'_, '_>, trace: &Trace, blocked: &[Blocked<'_, '_>]) -> String {
    let feasible: Vec<&str> = trace.feasible().map(|index| trace.nodes[index].node.as_str()).collect();
    if let Some((first, rest)) = feasible.split_first() {
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        return format!(
            "It fits now on {first}{more}. If it stays Pending, no scheduler called {} is at work.",
            report.asker.pod.scheduler_name
        );
    }
    let Some(nearest) = blocked.iter().min_by_key(|node| node.distance()) else {
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

/// Nodes by what stands in the way, the largest group first.
fn groups<'b, 'r, 'w>(blocked: &'b [Blocked<'r, 'w>]) -> Vec<(String, Vec<&'b Blocked<'r, 'w>>)> {
    let mut groups: BTreeMap<String, Vec<&Blocked<'r, 'w>>> = BTreeMap::new();
    for node in blocked {
        let labels: Vec<String> =
            node.trace.rejections.iter().map(|rejection| label(&rejection.reason)).collect();
        groups.entry(labels.join(" + ")).or_default().push(node);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    groups
}

fn group(report: &Report<'_, '_>, label: &str, nodes: &[&Blocked<'_, '_>]) -> String {
    let mut text = format!("{:>4}  {label}\n", nodes.len());
    let shown = &nodes[..nodes.len().min(NODES_SHOWN)];
    let mut rows = Vec::new();
    let mut notes = String::new();
    for node in shown {
        for (rejection, numbers) in node.rejections(report) {
            match numbers {
                Some((resource, numbers)) => rows.push(numbers_row(node, &resource, &numbers)),
                None => {
                    let words = state_words(&rejection.reason).unwrap_or_default();
                    notes += &format!("      {}: {words}\n", node.ledger.node.name);
                }
            }
        }
        notes += &reserved_notes(report, node);
    }
    if !rows.is_empty() {
        let headers = ["NODE", "RESOURCE", "ASKS", "ALLOC", "USED", "RESERVED", "FREE", "SHORT"];
        text += &indent(&table(Some(&headers), &rows));
    }
    text += &notes;
    if nodes.len() > shown.len() {
        text += &format!("      (+{} more)\n", nodes.len() - shown.len());
    }
    text
}

fn numbers_row(node: &Blocked<'_, '_>, resource: &ResourceName, numbers: &Numbers) -> Vec<String> {
    let amounts =
        [numbers.asks, numbers.allocatable, numbers.used, numbers.reserved, numbers.free(), numbers.short()];
    let mut row = vec![node.ledger.node.name.to_string(), resource.to_string()];
    row.extend(amounts.iter().map(|amount| resource.format(*amount)));
    row
}

/// For whom room is kept on a node, of what the pod lacks there.
fn reserved_notes(report: &Report<'_, '_>, node: &Blocked<'_, '_>) -> String {
    let wanted: Vec<ResourceName> =
        node.rejections(report).filter_map(|(_, numbers)| numbers.map(|(resource, _)| resource)).collect();
    let mut text = String::new();
    for entry in &node.room.kept {
        let kept: Vec<String> = wanted
            .iter()
            .filter(|resource| entry.held.get(resource) > 0)
            .map(|resource| format!("{resource} {}", resource.format(entry.held.get(resource))))
            .collect();
        if !kept.is_empty() {
            let not_obeyed = if report.obeyed { "" } else { " (not obeyed)" };
            let whose = whose(report, entry);
            text += &format!(
                "      {} keeps {} for {whose}{not_obeyed}\n",
                node.ledger.node.name,
                kept.join(", ")
            );
        }
    }
    text
}

fn whose(report: &Report<'_, '_>, entry: &Entry<'_>) -> String {
    let id = &entry.reservation.id;
    let name = id.seat.as_ref().map_or_else(|| id.owner.to_string(), |seat| seat.as_str().into());
    let until = match entry.reservation.expires() {
        Some(expires) => format!("{} left", between(report.now, expires)),
        None => "no expiry".into(),
    };
    match owner(entry, report.cluster) {
        Some(owner) => {
            format!("{}/{} in {} (reservation {name}, {until})", owner.kind, owner.name, owner.namespace)
        }
        None => format!("an owner that was not found (reservation {name}, {until})"),
    }
}

impl Blocked<'_, '_> {
    /// Each rejection with its numbers, as far as it has any.
    fn rejections<'s>(
        &'s self,
        report: &'s Report<'_, '_>,
    ) -> impl Iterator<Item = (&'s Rejection, Option<(ResourceName, Numbers)>)> {
        self.trace.rejections.iter().map(|rejection| {
            let (resource, numbers) = match &rejection.reason {
                Reason::Insufficient { resource, numbers, .. } => (resource.clone(), *numbers),
                Reason::TooManyPods(numbers) => (ResourceName::Pods, *numbers),
                _ => return (rejection, None),
            };
            // What pods alone make short is shorter still by what is kept.
            let reserved = if report.obeyed { self.room.reserved.get(&resource) } else { 0 };
            (rejection, Some((resource, Numbers { reserved, ..numbers })))
        })
    }

    /// How far the node is from fitting: nodes that lack only room first, then by how much of it.
    fn distance(&self) -> (usize, i64) {
        let of_state = self.trace.rejections.iter().filter(|rejection| rejection.cure != Cure::Room).count();
        let short = self.trace.rejections.iter().map(|rejection| match &rejection.reason {
            Reason::Insufficient { numbers, .. } | Reason::TooManyPods(numbers) => {
                numbers.short().saturating_mul(1000) / numbers.asks.max(1)
            }
            _ => 0,
        });
        (of_state, short.fold(0, i64::saturating_add))
    }
}

fn label(reason: &Reason) -> String {
    match reason {
        Reason::Insufficient { resource, .. } if is_kept(reason) => format!("{resource} kept for others"),
        Reason::Insufficient { resource, .. } => format!("{resource} too low"),
        Reason::TooManyPods(_) => "too many pods".into(),
        Reason::Unschedulable => "cordoned".into(),
        Reason::Taint(_) => "taint".into(),
        Reason::OtherNode => "not the node that the pod names".into(),
        Reason::Unreadable(_) => "unreadable".into(),
    }
}

/// The particulars of a reason that has no numbers.
fn state_words(reason: &Reason) -> Option<String> {
    match reason {
        Reason::Taint(taint) if taint.value.is_empty() => {
            Some(format!("taint {}:{}", taint.key, taint.effect.as_str()))
        }
        Reason::Taint(taint) => {
            Some(format!("taint {}={}:{}", taint.key, taint.value, taint.effect.as_str()))
        }
        Reason::Unreadable(problem) => Some(problem.to_string()),
        Reason::Unschedulable | Reason::OtherNode => Some(label(reason)),
        Reason::Insufficient { .. } | Reason::TooManyPods(_) => None,
    }
}

fn is_kept(reason: &Reason) -> bool {
    matches!(reason, Reason::Insufficient { kept, .. } if !kept.is_empty())
}

/// What the scheduler itself told the pod, so that it can be found in dashboards.
fn said(pod: &Pod) -> String {
    match &pod.scheduled {
        Some(condition) if !condition.is_true && !condition.message.is_empty() => {
            format!("\n{} said: {}\n", pod.scheduler_name, condition.message)
        }
        _ => String::new(),
    }
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("      {line}\n")).collect()
}
