//! The books of a node as the design's prose has them (§4), done by listing everything there is. Nothing here knows
//! how the ledger does them.

use super::kin::{AGENT, AGENT_ASKS, Kin};
use super::town::{Amounts, Form, Guest, PODS, Promise, Town, Whom};
use crate::model::owner::OwnerKind;

/// `system-node-critical` and `system-cluster-critical` have this priority or a higher one.
pub(super) const CRITICAL: i32 = 2_000_000_000;

/// What has become of a reservation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    Occupied,
    Held,
    /// By this guest.
    Taken(usize),
    Expired,
}

/// A reservation in the books of its node.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) promise: usize,
    pub(super) fate: Fate,
    pub(super) held: Amounts,
}

pub(super) fn counted(town: &Town, house: usize) -> Vec<usize> {
    (0..town.guests.len()).filter(|guest| town.guests[*guest].is_on(house)).collect()
}

pub(super) fn used(town: &Town, house: usize) -> Amounts {
    sum(counted(town, house).into_iter().map(|guest| town.guests[guest].asks))
}

pub(super) fn sum(all: impl Iterator<Item = Amounts>) -> Amounts {
    all.fold(Amounts::default(), |sum, one| std::array::from_fn(|index| sum[index] + one[index]))
}

/// Every reservation on the node that was not removed.
pub(super) fn lines(town: &Town, house: usize) -> Vec<Line> {
    let takers = takers(town, house);
    let there = |promise: &usize| town.promises[*promise].house == house && !town.promises[*promise].removed;
    let line = |promise: usize| {
        let it = &town.promises[promise];
        let taker = takers.iter().find(|(taken, _)| *taken == promise).map(|(_, guest)| *guest);
        let (fate, held) = match taker {
            _ if !is_live(town, it) => (Fate::Expired, Amounts::default()),
            _ if it.form == Form::Plain || is_occupied(town, it) => (Fate::Occupied, Amounts::default()),
            Some(guest) => (Fate::Taken(guest), Amounts::default()),
            None => (Fate::Held, it.amount),
        };
        Line { promise, fate, held }
    };
    let mut lines: Vec<Line> = (0..town.promises.len()).filter(there).map(line).collect();
    let seats = lines.clone();
    for line in &mut lines {
        let it = &town.promises[line.promise];
        if it.form == Form::Plain && is_live(town, it) {
            line.held = left(town, it, &seats);
            line.fate = if line.held == Amounts::default() { Fate::Occupied } else { Fate::Held };
        }
    }
    lines
}

/// The same as one pod finds them: of the plain form, which gives way to few, seats that give way to the pod take nothing.
pub(super) fn lines_for(town: &Town, lines: &[Line], guest: &Guest) -> Vec<Line> {
    let promise = |line: &Line| &town.promises[line.promise];
    let is_seat = |line: &&Line| promise(line).form != Form::Plain;
    let seats = lines.iter().filter(is_seat).filter(|line| !yields(town, promise(line), guest));
    let seats: Vec<Line> = seats.cloned().collect();
    let found = |line: &Line| match promise(line).form == Form::Plain && is_live(town, promise(line)) {
        true => {
            let held = left(town, promise(line), &seats);
            let fate = if held == Amounts::default() { Fate::Occupied } else { Fate::Held };
            Line { fate, held, ..line.clone() }
        }
        false => line.clone(),
    };
    lines.iter().map(found).collect()
}

/// What the owner's pods on the node, and those that seats there are held for, leave of a reservation in the plain form.
fn left(town: &Town, promise: &Promise, seats: &[Line]) -> Amounts {
    let own = counted(town, promise.house).into_iter().map(|guest| &town.guests[guest]);
    let own = own.filter(|guest| may_use(town, guest, promise)).map(|guest| guest.asks);
    let owner = |promise: &Promise| promise.id.split('.').next().map(str::to_owned);
    let seats = seats.iter().filter(|line| owner(&town.promises[line.promise]) == owner(promise));
    let used = sum(own.chain(seats.map(|line| line.held)));
    std::array::from_fn(|index| (promise.amount[index] - used[index]).max(0))
}

pub(super) fn is_live(town: &Town, promise: &Promise) -> bool {
    !promise.removed && promise.expires.is_none_or(|expires| town.now < expires)
}

fn is_occupied(town: &Town, promise: &Promise) -> bool {
    promise.replaces.is_some_and(|guest| town.guests[guest].is_on(promise.house))
}

/// The owners that were read, from the nearest up to the first that was not.
fn owners<'t>(town: &'t Town, guest: &Guest) -> impl Iterator<Item = usize> + use<'t> {
    guest.kin.owners().iter().copied().take_while(|place| town.read[*place])
}

pub(super) fn may_use(town: &Town, guest: &Guest, promise: &Promise) -> bool {
    let replaced = promise.replaces.map(|replaced| &town.guests[replaced]);
    match promise.whom {
        Whom::Pod(owner) if promise.form == Form::Recorded => {
            let owner = &town.guests[owner];
            let is_same = guest.name == owner.name && guest.kin.namespace() == owner.kin.namespace();
            guest.kin.is_bare() && is_same
        }
        Whom::Pod(owner) => guest.kin.is_bare() && guest.uid == town.guests[owner].uid,
        Whom::Workload(place) => {
            let is_named = replaced.is_none_or(|replaced| replaced.name == guest.name);
            let is_stateful = guest.kin == Kin::Db && town.workloads[place].kind == OwnerKind::StatefulSet;
            owners(town, guest).any(|owner| owner == place) && (is_named || !is_stateful)
        }
    }
}

/// Whether the reservation yields to the pod.
pub(super) fn yields(town: &Town, promise: &Promise, guest: &Guest) -> bool {
    let is_outranked = promise.form == Form::Recorded && guest.priority > promise.priority;
    is_outranked || is_exempt(town, guest, promise.house)
}

/// Whether every reservation on the node yields to the pod.
pub(super) fn is_exempt(town: &Town, guest: &Guest, house: usize) -> bool {
    guest.priority >= CRITICAL || is_daemon_of(town, guest, house)
}

/// Whether the controller of the DaemonSet would make the pod for the node: the only one there, of no more than the template
/// asks for, and nowhere where the template tolerates no taint.
fn is_daemon_of(town: &Town, guest: &Guest, house: usize) -> bool {
    let is_other = |other: &Guest| other.kin == Kin::Agent && other.uid != guest.uid && !other.deleting;
    let others = counted(town, house).into_iter().filter(|other| is_other(&town.guests[*other]));
    owners(town, guest).any(|owner| owner == AGENT)
        && guest.tied == Some(house)
        && !town.houses[house].tainted
        && guest.asks.iter().zip(AGENT_ASKS).all(|(asks, most)| *asks <= most)
        && others.count() == 0
}

/// Orders reservations by age. What does not say when it was made was there before everything else.
pub(super) fn age(promise: &Promise) -> (Option<i64>, &str) {
    (Some(promise.created).filter(|_| promise.form == Form::Recorded), &promise.id)
}

/// Whether the pod's stamp names a seat of its owner, whatever became of that. Of a bare pod that was recreated nobody
/// knows any more which UID its owner had.
fn has_sat(town: &Town, guest: &Guest) -> bool {
    let Some((owner, _)) = guest.stamp().and_then(|stamp| stamp.split_once('.')) else { return false };
    let is_own = owners(town, guest).any(|place| town.workloads[place].uid.to_string() == owner);
    guest.kin.is_bare() || is_own
}

/// Who goes before whom, which goes before which; the guest, the promise.
type Claim<'t> = ((bool, Option<i64>, &'t str, &'t str), (bool, Option<i64>, &'t str), usize, usize);

/// Who has taken which: of all claims the strongest is granted, until none is left. Whoever got one, and whatever is
/// given away, is out.
fn takers(town: &Town, house: usize) -> Vec<(usize, usize)> {
    let mut claims = claims(town, house);
    let mut takers = Vec::new();
    while let Some((_, _, guest, promise)) = claims.iter().min().copied() {
        takers.push((promise, guest));
        claims.retain(|(_, _, other, of)| *other != guest && *of != promise);
    }
    takers
}

fn claims(town: &Town, house: usize) -> Vec<Claim<'_>> {
    let mut claims = Vec::new();
    for (index, promise) in town.promises.iter().enumerate() {
        if promise.house != house || promise.form == Form::Plain || !is_live(town, promise) {
            continue;
        }
        for who in counted(town, house).into_iter().filter(|who| promise.replaces != Some(*who)) {
            let guest = &town.guests[who];
            let is_stamped = guest.stamp() == Some(&promise.id);
            let is_later =
                promise.form == Form::Recorded && guest.since.is_some_and(|since| since >= promise.created);
            if may_use(town, guest, promise) && (is_stamped || (is_later && !has_sat(town, guest))) {
                let rank = (!is_stamped, guest.since, guest.kin.namespace(), &*guest.name);
                let (created, id) = age(promise);
                claims.push((rank, (is_occupied(town, promise), created, id), who, index));
            }
        }
    }
    claims
}

/// One slot for each pod is understood.
pub(super) fn with_slot(mut amounts: Amounts) -> Amounts {
    amounts[PODS] = 1;
    amounts
}
