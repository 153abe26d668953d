//! The messages after a reservation was written: what it keeps, which replicas have seen it, and which schedulers enforce it.

use super::recipient::Recipient;
use crate::connect::Session;
use crate::render::time::between;
use crate::replicas::{self, SEEN_MAX, WaitResult};
use crate::reservations::{owner_name, words};
use crate::ui::printer;
use common::api::names;
use common::cluster::Acknowledgement;
use common::model::Reservation;
use jiff::Timestamp;

pub(super) fn print_reservation(
    reservation: &Reservation,
    node: &str,
    recipient: &Recipient,
    now: Timestamp,
    is_real: bool,
) {
    let owner = if recipient.is_bare_uid {
        format!("whoever has the UID {}", recipient.owner.uid)
    } else {
        format!("{} in {}", owner_name(&recipient.owner), recipient.owner.namespace)
    };
    let end = match reservation.expires() {
        Some(expires) => format!("for {}, until {expires}", between(now, expires)),
        None => "until it is released".into(),
    };
    let while_there = match recipient.replaced() {
        Some(pod) => format!(" as soon as {} is gone,", pod.key.name),
        None => String::new(),
    };
    let amount = words(&reservation.amount);
    let keeps = if is_real { "keeps" } else { "would keep" };
    printer::say(&format!("{keeps} {amount} on {node} for {owner},{while_there} {end}"));
}

/// Waits until the daemon has seen the reservation, and prints which schedulers enforce it.
pub(super) async fn print_enforcement(session: &Session, version: u64, scheduler: Option<&str>) {
    match replicas::wait(session, version).await {
        Ok(result) if result.replicas.is_hidden => {
            unknown(&format!("needs: {}", replicas::right(&session.daemon)));
        }
        Ok(result) => say(&result, scheduler.unwrap_or(names::DEFAULT_SCHEDULER_NAME)),
        Err(error) => unknown(&format!("{error:?}")),
    }
}

fn unknown(why: &str) {
    printer::warn(&format!("whether anybody enforces it is not known, for the Leases cannot be read; {why}"));
}

fn say(result: &WaitResult, scheduler: &str) {
    let live = result.replicas.live().count();
    let replicas =
        if live == 1 { "the daemon".to_owned() } else { format!("all {live} replicas of the daemon") };
    match &result.by {
        Acknowledgement::ByAll => printer::say(&format!("seen by {replicas}")),
        Acknowledgement::NotBy(late) => printer::warn(&format!(
            "not seen within {} s by {}; it may not be enforced yet",
            SEEN_MAX.as_secs(),
            late.join(", ")
        )),
        Acknowledgement::NoReplica => {
            printer::warn("no daemon is at work, so nobody enforces it: any pod may take the room");
            printer::say("see: kubectl reserve status");
            return;
        }
    }
    let enforcing = result.replicas.enforcing();
    printer::say(&format!("enforced by {}", result.replicas.words()));
    let not_enforcing = [names::DEFAULT_SCHEDULER_NAME, scheduler];
    let not_enforcing: std::collections::BTreeSet<&str> =
        not_enforcing.into_iter().filter(|name| !enforcing.contains_key(*name)).collect();
    for name in not_enforcing {
        printer::warn(&format!("{name} does not enforce it: its pods may take the room"));
    }
}
