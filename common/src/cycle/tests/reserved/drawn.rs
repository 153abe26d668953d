//! Things drawn at random: nodes, pods, reservations. Small numbers, so that they get in each other's way.

use super::books::{CRITICAL, with_slot};
use super::kin::{AGENT, Kin, WORKLOADS};
use super::town::{Amounts, Form, GPU, Guest, House, Mind, Place, Port, Promise, Town, Whom};
use super::wire::NOISES;
use crate::testing::Tape;
use std::collections::BTreeSet;

const GIB: i64 = 1 << 30;

/// A town of one to six nodes, in which some owners were not read yet.
pub(super) fn town(tape: &mut Tape<'_>) -> Town {
    let houses = (0..=tape.below(6)).map(|number| house(number, tape)).collect();
    Town::new(houses, std::array::from_fn::<bool, WORKLOADS, _>(|_| !tape.one_in(6)))
}

pub(super) fn house(number: usize, tape: &mut Tape<'_>) -> House {
    let has = [
        tape.of(&[1000, 2000, 2000, 3000]),
        tape.of(&[1, 2, 4]) * GIB,
        tape.of(&[1, 2]) * GIB,
        tape.of(&[2, 3, 4, 9]),
    ];
    House {
        name: format!("n{number}"),
        there: true,
        has: [has[0], has[1], has[2], has[3], tape.of(&[0, 1, 2])],
        cordoned: tape.one_in(8),
        tainted: tape.one_in(6),
        zone: tape.below(2),
        noise: (0..tape.below(3)).map(|_| tape.below(NOISES)).collect::<BTreeSet<_>>(),
    }
}

fn ports(tape: &mut Tape<'_>) -> Vec<Port> {
    let all =
        [("TCP", "", 80), ("TCP", "10.0.0.1", 80), ("UDP", "", 80), ("TCP", "10.0.0.2", 80), ("TCP", "", 81)];
    let mut ports: Vec<Port> = (0..tape.of(&[0, 0, 0, 1, 2])).map(|_| tape.of(&all)).collect();
    ports.dedup();
    ports
}

fn amounts(tape: &mut Tape<'_>) -> Amounts {
    let (cpu, memory) = (tape.of(&[500, 1000, 1000, 1500, 0]), tape.of(&[0, 0, GIB / 2, GIB]));
    with_slot([cpu, memory, tape.of(&[0, 0, GIB]), 1, tape.of(&[0, 0, 1])])
}

pub(super) fn priority(tape: &mut Tape<'_>) -> i32 {
    tape.of(&[0, 0, 0, 0, 10, 10, -5, CRITICAL])
}

/// Somebody new, unless all names are given away.
pub(super) fn guest(town: &Town, tape: &mut Tape<'_>) -> Option<Guest> {
    let kin = tape.of(&Kin::ALL);
    let is_used = |name: &String| {
        let same = |guest: &Guest| guest.name == *name && guest.kin.namespace() == kin.namespace();
        town.guests.iter().any(|guest| guest.place != Place::Gone && same(guest))
    };
    let name = kin.names(town.guests.len()).into_iter().find(|name| !is_used(name))?;
    // Pods that ask for the same are decided on together, whosever they are.
    let like = town.guests.len().saturating_sub(1 + tape.below(4));
    if let Some(like) = town.guests.get(like).filter(|_| tape.one_in(2)) {
        let (uid, forged) = (town.fresh_uid(), tape.one_in(3).then(|| forged(town, tape)));
        let (seat, since, place, deleting) = (None, None, Place::Waiting, false);
        return Some(Guest { kin, name, uid, forged, seat, since, place, deleting, ..like.clone() });
    }
    Some(Guest {
        kin,
        name,
        uid: town.fresh_uid(),
        asks: amounts(tape),
        ports: ports(tape),
        priority: priority(tape),
        tolerates: tape.one_in(2),
        zone: tape.of(&[None, None, None, Some(0), Some(1)]),
        tied: (!tape.one_in(4)).then(|| tape.below(town.houses.len())),
        mind: tape.of(&[Mind::Not, Mind::Not, Mind::Not, Mind::Softly, Mind::Strictly]),
        forged: tape.one_in(3).then(|| forged(town, tape)),
        seat: None,
        since: None,
        place: Place::Waiting,
        deleting: false,
    })
}

/// The stamp of one of the reservations ever made, or something else.
fn forged(town: &Town, tape: &mut Tape<'_>) -> String {
    let never = format!("{}.never", town.workloads[tape.below(WORKLOADS)].uid);
    let mut all = vec!["garbage".to_owned(), never];
    all.extend(town.promises.iter().rev().take(8).map(|promise| promise.id.clone()));
    tape.of(&all)
}

/// A reservation in some form, for somebody, on some node; if the one like it is not there already.
pub(super) fn promise(town: &Town, tape: &mut Tape<'_>) -> Option<Promise> {
    let house = tape.below(town.houses.len());
    let form =
        tape.of(&[Form::Recorded, Form::Recorded, Form::Recorded, Form::Plain, Form::Newer, Form::Newer]);
    let bare = (0..town.guests.len()).filter(|guest| town.guests[*guest].kin.is_bare()).max();
    let whom = match (tape.one_in(4), bare) {
        (true, Some(bare)) => Whom::Pod(bare),
        // More often the two Deployments than the others.
        _ => Whom::Workload(tape.of(&[0, 0, 0, 1, 2, 2, 3, 5, 5, 5, 6, AGENT])),
    };
    let mut promise = blank(town, house, whom, form);
    (promise.amount, promise.priority) = (amounts(tape), priority(tape));
    match form {
        Form::Recorded => promise.ports = ports(tape),
        Form::Plain => promise.amount[0] = tape.of(&[500, 1000, 1500, 2000]),
        Form::Newer => promise.amount[0] = 500,
    }
    if form != Form::Recorded {
        promise.amount[GPU] = 0;
    }
    let life = town.now + tape.of(&[0, 5, 60, 60, 600]);
    promise.expires = match form {
        Form::Recorded => Some(life),
        Form::Plain => None,
        Form::Newer => tape.of(&[Some(life), None]),
    };
    let is_same = |other: &Promise| other.house == house && other.id == promise.id && !other.removed;
    (!town.promises.iter().any(is_same)).then_some(promise)
}

/// A reservation of what a guest has, for whoever replaces it.
pub(super) fn replacing(town: &Town, house: usize, guest: usize, tape: &mut Tape<'_>) -> Option<Promise> {
    let it = &town.guests[guest];
    let whom = match it.kin.owners().last() {
        Some(top) => Whom::Workload(*top),
        None if it.kin.is_bare() => Whom::Pod(guest),
        None => return None,
    };
    let promise = blank(town, house, whom, Form::Recorded);
    let expires = Some(town.now + tape.of(&[5, 60, 600]));
    let (amount, ports, priority) = (it.asks, it.ports.clone(), it.priority);
    Some(Promise { replaces: Some(guest), amount, ports, priority, expires, ..promise })
}

/// One of the same owner that was there before.
pub(super) fn older(town: &Town, promise: &Promise) -> Promise {
    let (id, created) = (format!("{}old", promise.id), town.now - 1);
    Promise { id, created, replaces: None, ports: Vec::new(), ..promise.clone() }
}

fn blank(town: &Town, house: usize, whom: Whom, form: Form) -> Promise {
    let (owner, number) = (town.uid_of(whom), town.promises.len());
    // Seats are not in the order in which they were made.
    let seat = format!("s{}x{number}", number * 7 % 10);
    let id = if form == Form::Plain { owner } else { format!("{owner}.{seat}") };
    Promise {
        house,
        whom,
        form,
        id,
        replaces: None,
        amount: with_slot(Amounts::default()),
        ports: Vec::new(),
        priority: 0,
        created: town.now,
        expires: None,
        removed: false,
    }
}
