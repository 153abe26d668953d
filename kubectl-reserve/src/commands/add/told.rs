//! What is said after a reservation was written: what is kept, who has seen it, and who enforces.

use super::whose::Whose;
use crate::connect::Session;
use crate::render::time::between;
use crate::replicas::{self, Heard, SEEN_MAX};
use crate::reservations::{owner_name, words};
use crate::ui::printer;
use common::api::names;
use common::cluster::Acknowledged;
use common::model::Reservation;
use jiff::Timestamp;

/// Says what is kept.
pub(super) fn kept(reservation: &Reservation, node: &str, whose: &Whose, now: Timestamp, is_real: bool) {
    let owner = if whose.is_bare_uid {
        format!("whoever has the UID {}", whose.owner.uid)
    } else {
        format!("{} in {}", owner_name(&whose.owner), whose.owner.namespace)
    };
    let end = match reservation.expires() {
        Some(expires) => format!("for {}, until {expires}", between(now, expires)),
        None => "until it is released".into(),
    };
    let while_there = match whose.replaced() {
        Some(pod) => format!(" as soon as {} is gone,", pod.key.name),
        None => String::new(),
    };
    let amount = words(&reservation.amount);
    let keeps = if is_real { "keeps" } else { "would keep" };
    printer::say(&format!("{keeps} {amount} on {node} for {owner},{while_there} {end}"));
}

/// Waits until the daemon has seen it, and says who enforces it.
pub(super) async fn seen(session: &Session, version: u64, scheduler: Option<&str>) {
    match replicas::wait(session, version).await {
        Ok(heard) if heard.replicas.is_hidden => {
            unknown(&format!("needs: {}", replicas::right(&session.daemon)));
        }
        Ok(heard) => say(&heard, scheduler.unwrap_or(names::DEFAULT_SCHEDULER_NAME)),
        Err(error) => unknown(&format!("{error:?}")),
    }
}

fn unknown(why: &str) {
    printer::warn(&format!("whether anybody enforces it is not known, for the Leases cannot be read; {why}"));
}

fn say(heard: &Heard, scheduler: &str) {
    let live = heard.replicas.live().count();
    let replicas =
        if live == 1 { "the daemon".to_owned() } else { format!("all {live} replicas of the daemon") };
    match &heard.by {
        Acknowledged::ByAll => printer::say(&format!("seen by {replicas}")),
        Acknowledged::NotBy(late) => printer::warn(&format!(
            "not seen within {} s by {}; it may not be enforced yet",
            SEEN_MAX.as_secs(),
            late.join(", ")
        )),
        Acknowledged::Nobody => {
            printer::warn("no daemon is at work, so nobody enforces it: any pod may take the room");
            printer::say("see: kubectl reserve status");
            return;
        }
    }
    let enforcing = heard.replicas.enforcing();
    printer::say(&format!("enforced by {}", heard.replicas.words()));
    let deaf = [names::DEFAULT_SCHEDULER_NAME, scheduler];
    let deaf: std::collections::BTreeSet<&str> =
        deaf.into_iter().filter(|name| !enforcing.contains_key(*name)).collect();
    for name in deaf {
        printer::warn(&format!("{name} does not enforce it: its pods may take the room"));
    }
}
