//! The state of a reservation with its reason, which pods may use it, and the next steps.

use super::in_full;
use crate::amount::shown;
use crate::capacity::Room;
use crate::render::list::is_in_part;
use crate::render::time::between;
use crate::reservations::{Row, owner_name, words};
use common::cluster::ReservationState;
use common::cluster::ledger::Entry;
use common::model::{Origin, Pod, Reservation, Resources};
use jiff::Timestamp;

/// The state of the reservation, and why it is in that state.
pub(super) fn state(row: &Row<'_>, now: Timestamp, has_pods: bool) -> String {
    let Some(entry) = row.entry() else {
        let problem = row.invalid().map_or("", |invalid| &*invalid.problem);
        return format!("Invalid: {problem}; it counts for nothing");
    };
    let unsure = if has_pods { "" } else { "; pods could not be read, so somebody may sit there" };
    let why = match entry.state {
        ReservationState::Occupied => occupied(row, entry),
        ReservationState::Held => held(row, entry),
        ReservationState::Taken => taken(entry),
        ReservationState::Short => short(row, entry),
        ReservationState::Expired => {
            let since = entry.reservation.expires().map(|at| format!(" {} ago", between(at, now)));
            format!("its time was over{}; it keeps nothing any more", since.unwrap_or_default())
        }
    };
    format!("{}: {why}{unsure}", entry.state.as_str())
}

fn occupied(row: &Row<'_>, entry: &Entry) -> String {
    let replaced = entry.reservation.replaces();
    let is_replaced = |pod: &&std::sync::Arc<Pod>| replaced.is_some_and(|replaced| replaced.uid == pod.uid);
    match row.ledger.pods.iter().find(is_replaced) {
        Some(pod) if pod.deleting => {
            format!("pod {}, whose place is kept, is on its way out and still sits there", pod.key)
        }
        Some(pod) => format!("pod {}, whose place is kept, still sits there", pod.key),
        None => "the owner's pods use all of it".into(),
    }
}

fn held(row: &Row<'_>, entry: &Entry) -> String {
    let owner = row.owner().map_or_else(|| "nobody that was found".into(), owner_name);
    if entry.reservation.is_manual() && is_in_part(entry) {
        let used = entry.reservation.amount.minus(&entry.held);
        return format!(
            "{} is empty and kept for {owner}, whose pods use the other {}",
            words(&entry.held),
            words(&used)
        );
    }
    let more = if row.owner().is_some() && row.is_orphaned() { ", which is gone" } else { "" };
    format!("the room is empty and kept for {owner}{more}")
}

fn taken(entry: &Entry) -> String {
    match &entry.taken_by {
        Some(pod) => format!("pod {} has it; the daemon is about to release it", pod.key),
        None => "a pod of the owner has it".into(),
    }
}

fn short(row: &Row<'_>, entry: &Entry) -> String {
    let free = Room::of(row.ledger).free();
    let mut over = Resources::default();
    for (resource, _) in entry.held.iter() {
        let missing = free.get(&resource).min(0).saturating_neg();
        over.set(resource, missing);
    }
    let words: Vec<String> =
        over.iter().map(|(resource, amount)| format!("{resource} {}", shown(&resource, amount))).collect();
    format!("held, but the node has promised more than it has: {} too much", words.join(", "))
}

/// Which pods may use the reservation.
pub(super) fn usable_by(row: &Row<'_>) -> String {
    let Some(entry) = row.entry() else { return "nobody".into() };
    let reservation = &entry.reservation;
    match (row.owner(), &reservation.origin) {
        (None, _) => format!("pods of whoever has uid {}", reservation.id.owner),
        (Some(owner), _) if row.is_orphaned() => format!("nobody any more: {} is gone", owner_name(owner)),
        (Some(owner), _) if &*owner.kind == "Pod" => {
            format!("a pod called {} in {}, without a controller", owner.name, owner.namespace)
        }
        (Some(owner), Origin::Manual) => format!("the pods of {}, together", in_full(owner)),
        (Some(owner), _) => match reservation.replaces().filter(|_| &*owner.kind == "StatefulSet") {
            Some(pod) => format!("the pod {} of {}", pod.name, in_full(owner)),
            None => format!("one pod of {}, whichever comes first", in_full(owner)),
        },
    }
}

pub(super) fn yields_to(reservation: &Reservation) -> String {
    let always = "system-critical pods, pods of DaemonSets";
    match reservation.record() {
        Some(record) => format!("pods of a priority above {}, {always}", record.priority),
        None => always.into(),
    }
}

/// Commands that change the reservation.
pub(super) fn next_steps(row: &Row<'_>) -> Vec<String> {
    let id = row.id();
    let release = format!("kubectl reserve release {id}");
    let Some(entry) = row.entry() else { return vec![format!("{release}    # removes the annotation")] };
    let mut steps = Vec::new();
    let is_live = entry.state != ReservationState::Expired;
    if entry.reservation.record().is_some() && is_live && !row.is_orphaned() {
        steps.push(format!("kubectl reserve extend {id} --ttl 30m"));
    }
    let consequence = match row.owner().filter(|_| row.keeps_room() && !row.is_orphaned()) {
        Some(owner) => format!("    # {} may lose its place", owner_name(owner)),
        None => String::new(),
    };
    steps.push(release + &consequence);
    steps
}
