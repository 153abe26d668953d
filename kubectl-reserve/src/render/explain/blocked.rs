//! The nodes that cannot have a pod: grouped by what stands in the way, with the numbers, and for whom room is kept.

use super::Report;
use crate::render::list::owner;
use crate::render::table::table;
use crate::render::time::between;
use common::cluster::Ledger;
use common::cluster::ledger::{Entry, Room};
use common::framework::{Cure, NodeTrace, Numbers, Reason, Rejection};
use common::model::ResourceName;
use std::collections::BTreeMap;

/// Nodes shown of each group; the nearest come first.
const NODES_SHOWN: usize = 5;

/// One node that cannot have the pod.
pub(super) struct Blocked<'r> {
    pub(super) ledger: &'r Ledger,
    pub(super) trace: &'r NodeTrace,
    pub(super) room: Room<'r>,
}

/// Nodes by what stands in the way, the largest group first.
pub(super) fn groups<'b, 'r>(blocked: &'b [Blocked<'r>]) -> Vec<(String, Vec<&'b Blocked<'r>>)> {
    let mut groups: BTreeMap<String, Vec<&Blocked<'r>>> = BTreeMap::new();
    for node in blocked {
        let labels: Vec<String> =
            node.trace.rejections.iter().map(|rejection| label(&rejection.reason)).collect();
        groups.entry(labels.join(" + ")).or_default().push(node);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    groups
}

pub(super) fn group(report: &Report<'_, '_>, label: &str, nodes: &[&Blocked<'_>]) -> String {
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

fn numbers_row(node: &Blocked<'_>, resource: &ResourceName, numbers: &Numbers) -> Vec<String> {
    let amounts =
        [numbers.asks, numbers.allocatable, numbers.used, numbers.reserved, numbers.free(), numbers.short()];
    let mut row = vec![node.ledger.node.name.to_string(), resource.to_string()];
    row.extend(amounts.iter().map(|amount| if *amount == 0 { "0".into() } else { resource.format(*amount) }));
    row
}

/// For whom room is kept on a node, of what the pod lacks there.
fn reserved_notes(report: &Report<'_, '_>, node: &Blocked<'_>) -> String {
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
            let (node, whose) = (&node.ledger.node.name, whose(report, entry));
            text += &format!("      {node} keeps {} for {whose}\n", kept.join(", "));
        }
    }
    text
}

/// The owner on this line, the reservation on the next: a UID alone takes half a terminal.
fn whose(report: &Report<'_, '_>, entry: &Entry) -> String {
    let whose = match owner(entry, report.snapshot) {
        Some(owner) => format!("{}/{} in {}", owner.kind, owner.name, owner.namespace),
        None => "an owner that was not found".into(),
    };
    let id = &entry.reservation.id;
    let name = id.seat.as_ref().map_or_else(|| id.owner.to_string(), |seat| seat.as_str().into());
    let until = match entry.reservation.expires() {
        Some(expires) => format!("{} left", between(report.now, expires)),
        None => "no expiry".into(),
    };
    let not_obeyed = if report.obeyed { "" } else { " (not obeyed)" };
    format!("{whose}{not_obeyed}\n        reservation {name}, {until}")
}

impl Blocked<'_> {
    /// Each rejection with its numbers, as far as it has any.
    pub(super) fn rejections<'s>(
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
    pub(super) fn distance(&self, report: &Report<'_, '_>) -> (usize, i64) {
        let of_state = self.trace.rejections.iter().filter(|rejection| rejection.cure != Cure::Room).count();
        let short = self
            .rejections(report)
            .filter_map(|(_, numbers)| numbers)
            .map(|(_, numbers)| numbers.short().saturating_mul(1000) / numbers.asks.max(1));
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
        Reason::Ports { ports, kept } => {
            let ports: Vec<String> =
                ports.iter().map(|port| format!("{}/{}", port.port, port.protocol)).collect();
            let by = if kept.is_empty() { "in use" } else { "kept for others" };
            format!("port {} {by}", ports.join(", "))
        }
        Reason::Gates(_) | Reason::LeftOut(_) | Reason::NoneLeft(_) | Reason::Said { .. } => {
            reason.to_string()
        }
    }
}

/// The particulars of a reason that has no numbers.
pub(super) fn state_words(reason: &Reason) -> Option<String> {
    match reason {
        Reason::Taint(taint) if taint.value.is_empty() => {
            Some(format!("taint {}:{}", taint.key, taint.effect.as_str()))
        }
        Reason::Taint(taint) => {
            Some(format!("taint {}={}:{}", taint.key, taint.value, taint.effect.as_str()))
        }
        Reason::Unreadable(problem) => Some(problem.to_string()),
        Reason::Insufficient { .. } | Reason::TooManyPods(_) => None,
        _ => Some(label(reason)),
    }
}

pub(super) fn is_kept(reason: &Reason) -> bool {
    matches!(reason, Reason::Insufficient { kept, .. } if !kept.is_empty())
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("      {line}\n")).collect()
}
