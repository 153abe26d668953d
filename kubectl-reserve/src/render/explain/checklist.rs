//! The text of `--node`: the result of every filter on one node.

use super::Layout;
use super::misses::holder;
use crate::amount::{column, shown};
use crate::explain::{Blocker, BlockingReservation, Checklist, Figure, FilterCheck, Users};
use crate::render::printable;
use crate::render::wrap::wrap;

pub(crate) fn checklist(list: &Checklist, is_enforced: bool, layout: &Layout) -> String {
    let end = if list.fits() { "the pod fits now" } else { "the pod does not fit" };
    let mut text = format!("NODE {}  {end}\n", list.node);
    for why in &list.refused {
        text +=
            &wrap("  FAIL ", &format!("before any node is looked at: {}", printable(why)), 7, layout.width);
    }
    // Filters that pass without evidence share a line.
    let mut quiet: Vec<&str> = Vec::new();
    for check in &list.checks {
        match (&check.blockers[..], &check.evidence) {
            ([], None) => quiet.push(check.filter),
            ([], Some(words)) => {
                text += &wrap(&format!("  PASS {:<18}  ", check.filter), &printable(words), 27, layout.width);
            }
            _ => text += &failed(list, check, is_enforced, layout),
        }
    }
    if !quiet.is_empty() {
        text += &wrap("  PASS ", &quiet.join(", "), 7, layout.width);
    }
    text
}

fn failed(list: &Checklist, check: &FilterCheck, is_enforced: bool, layout: &Layout) -> String {
    let mut text = String::new();
    for blocker in &check.blockers {
        let words = match &blocker.figure {
            Some(figure) => sum(list, figure, is_enforced),
            None => particulars(blocker),
        };
        text += &wrap(&format!("  FAIL {:<18}  ", check.filter), &printable(&words), 27, layout.width);
        let resource = blocker.figure.as_ref().map(|figure| &figure.resource);
        let users = list.users.iter().find(|users| Some(&users.resource) == resource);
        if let Some(users) = users.filter(|users| !users.pods.is_empty()) {
            text += &wrap("       largest users: ", &largest(users), 7, layout.width);
        }
    }
    text
}

fn particulars(blocker: &Blocker) -> String {
    match &blocker.evidence {
        Some(evidence) => format!("{}: {evidence}", blocker.label),
        None => blocker.label.clone(),
    }
}

/// The numbers of a resource: `cpu asks 4, free 2.1 = 16 - 13.4 used - 0.5 reserved (7f3a0c for StatefulSet/pg)`.
fn sum(list: &Checklist, figure: &Figure, is_enforced: bool) -> String {
    let holds = |one: &&BlockingReservation| one.amounts.iter().any(|(held, _)| *held == figure.resource);
    let reservations: Vec<String> = list.reservations.iter().filter(holds).map(holder).collect();
    let numbers = &figure.numbers;
    let owner_text =
        if reservations.is_empty() { String::new() } else { format!(" ({})", reservations.join("; ")) };
    let not_enforced = if is_enforced || reservations.is_empty() { "" } else { " (not enforced)" };
    let amounts = [numbers.asks, figure.free(), numbers.allocatable, numbers.used, numbers.reserved];
    let shown = column(&figure.resource, &amounts);
    let [asks, free, allocatable, used, reserved] = &shown[..] else { return String::new() };
    format!(
        "{} asks {asks}, free {free} = {allocatable} - {used} used - {reserved} reserved{owner_text}{not_enforced}",
        figure.resource
    )
}

fn largest(users: &Users) -> String {
    let one = |(name, amount): &(String, i64)| format!("{name} {}", shown(&users.resource, *amount));
    users.pods.iter().map(one).collect::<Vec<_>>().join(", ")
}
