//! The books done another way: from what really happened in a [`Town`], by listing every possible claim and going
//! through them in order of precedence. Shares no code with the ledger.

use super::history::{Family, Guest, Promise, Town};

/// What has become of a reservation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    Occupied,
    Held,
    /// By the guest with this index.
    Taken(usize),
    Expired,
}

/// What has become of each reservation that was not removed, by its place in the list.
pub(super) fn fates(town: &Town) -> Vec<(usize, Fate)> {
    let takers = takers(town);
    let there = town.promises.iter().enumerate().filter(|(_, promise)| !promise.removed);
    let fate = |(index, promise): (usize, &Promise)| {
        let taker = takers.iter().find(|(promise, _)| *promise == index);
        let fate = match taker {
            _ if !is_live(town, promise) => Fate::Expired,
            _ if is_occupied(town, promise) => Fate::Occupied,
            Some((_, guest)) => Fate::Taken(*guest),
            None => Fate::Held,
        };
        (index, fate)
    };
    there.map(fate).collect()
}

/// The cpu of all pods that are there.
pub(super) fn used(town: &Town) -> i64 {
    town.guests.iter().filter(|guest| guest.is_counted()).map(|guest| guest.cpu).sum()
}

fn is_live(town: &Town, promise: &Promise) -> bool {
    !promise.removed && town.now < promise.expires
}

fn is_occupied(town: &Town, promise: &Promise) -> bool {
    promise.replaces.is_some_and(|guest| town.guests[guest].is_counted())
}

fn may_use(town: &Town, guest: &Guest, promise: &Promise) -> bool {
    let named = promise.replaces.is_none_or(|replaced| town.guests[replaced].name == guest.name);
    guest.related && (town.family != Family::StatefulSet || named)
}

/// A claim of a guest to a promise; the smaller goes first. Those with a stamp go before those without; then who came
/// first; then, for each, the empty before the occupied, and the old before the new.
type Claim = ((bool, Option<i64>, String), (bool, i64, String), usize, usize);

fn takers(town: &Town) -> Vec<(usize, usize)> {
    let mut claims: Vec<Claim> = Vec::new();
    for (seat, promise) in town.promises.iter().enumerate().filter(|(_, promise)| is_live(town, promise)) {
        for (index, guest) in town.guests.iter().enumerate().filter(|(_, guest)| guest.is_counted()) {
            if promise.replaces == Some(index) || !may_use(town, guest, promise) {
                continue;
            }
            let id = promise.id.to_string();
            let is_stamped = guest.stamp.as_ref() == Some(&id);
            let came_after = guest.since.is_some_and(|since| since >= promise.created);
            if is_stamped || (!guest.sat && came_after) {
                let who = (!is_stamped, guest.since, guest.name.clone());
                claims.push((who, (is_occupied(town, promise), promise.created, id), index, seat));
            }
        }
    }
    claims.sort();
    let mut takers: Vec<(usize, usize)> = Vec::new();
    for (_, _, guest, seat) in claims {
        if takers.iter().all(|(taken, by)| *taken != seat && *by != guest) {
            takers.push((seat, guest));
        }
    }
    takers
}
