//! Notes of what was met on the way, so that it can be said that the histories reach everything.

use super::books::{self, CRITICAL, Fate, Line};
use super::kin::Kin;
use super::opinion::Opinion;
use super::town::{Amounts, Form, Mind, Promise, Town, Whom};

/// Everything that is to be met.
pub(super) const ALL: [&str; 44] = [
    "Expired",
    "Held",
    "Occupied",
    "Short",
    "Taken",
    "a bare pod goes home",
    "a forged stamp counts for nothing",
    "a liar is kept out",
    "a forged stamp, and the room is kept",
    "a member goes home under its name",
    "a namesake elsewhere is a stranger",
    "a seat of two is taken",
    "a stamp that names what is gone",
    "confirmed",
    "expired beside live",
    "forgotten",
    "goes home although others would do",
    "home cannot have it",
    "kept: cpu",
    "kept: ephemeral-storage",
    "kept: memory",
    "kept: nvidia.com/gpu",
    "kept: pods",
    "kept: ports",
    "minds its neighbours, and is placed",
    "minds its neighbours, not reservations",
    "named, although another is older",
    "newer held",
    "newer over",
    "newer taken",
    "noise beside a reservation",
    "nowhere",
    "owner read later",
    "plain held in part",
    "plain used up",
    "ports in use",
    "takes a newer one",
    "takes from the pool",
    "taken with a stamp",
    "taken without a stamp",
    "two seats of one owner",
    "yields to a DaemonSet",
    "yields to higher priority",
    "yields to the system",
];

pub(super) fn judged(town: &mut Town, guest: usize, opinion: &Opinion) {
    let kin = town.guests[guest].kin;
    let mut met = Vec::new();
    for said in &opinion.said {
        met.push(match (said.plugin, &*said.what) {
            ("Reservation", "cpu") => "kept: cpu",
            ("Reservation", "memory") => "kept: memory",
            ("Reservation", "ephemeral-storage") => "kept: ephemeral-storage",
            ("Reservation", "pods") => "kept: pods",
            ("Reservation", "nvidia.com/gpu") => "kept: nvidia.com/gpu",
            ("Reservation", _) => "kept: ports",
            ("NodePorts", _) => "ports in use",
            _ => continue,
        });
        if said.plugin == "Reservation" && matches!(kin, Kin::Liar(_)) {
            met.push("a liar is kept out");
        }
    }
    let is_namesake = |promise: &Promise| match promise.whom {
        Whom::Pod(owner) => {
            let (owner, it) = (&town.guests[owner], &town.guests[guest]);
            owner.name == it.name && kin.is_bare() && kin.namespace() != owner.kin.namespace()
        }
        Whom::Workload(_) => false,
    };
    if town.promises.iter().any(|promise| books::is_live(town, promise) && is_namesake(promise)) {
        met.push("a namesake elsewhere is a stranger");
    }
    if opinion.own.is_some() && !opinion.said.is_empty() {
        met.push("home cannot have it");
    }
    town.met.extend(met);
}

pub(super) fn placed(town: &mut Town, guest: usize, house: usize, own: Option<usize>, feasible: usize) {
    let mut met = Vec::new();
    let it = &town.guests[guest];
    if it.mind != Mind::Not {
        met.push("minds its neighbours, and is placed");
    }
    let lines = books::lines(town, house);
    for line in lines.iter().filter(|line| line.fate == Fate::Held) {
        let promise = &town.promises[line.promise];
        if own == Some(line.promise) || !books::yields(town, promise, it) {
            continue;
        }
        met.push(match it.priority {
            CRITICAL.. => "yields to the system",
            _ if it.kin == Kin::Agent && it.priority <= promise.priority => "yields to a DaemonSet",
            _ => "yields to higher priority",
        });
    }
    met.extend(own.iter().flat_map(|own| at_home(town, guest, &lines, *own, feasible)));
    town.met.extend(met);
}

/// What there is to say of a pod that goes home.
fn at_home(town: &Town, guest: usize, lines: &[Line], own: usize, feasible: usize) -> Vec<&'static str> {
    let it = &town.guests[guest];
    let may_use = |line: &&Line| books::may_use(town, it, &town.promises[line.promise]);
    let usable: Vec<&Line> = lines.iter().filter(|line| line.fate == Fate::Held).filter(may_use).collect();
    let promise = &town.promises[own];
    let is_named = promise.replaces.is_some_and(|old| town.guests[old].name == it.name);
    let is_older = |line: &&Line| {
        let other = &town.promises[line.promise];
        other.form == Form::Recorded && books::age(other) < books::age(promise)
    };
    let notes = [
        (feasible > 1, "goes home although others would do"),
        (it.kin.is_bare(), "a bare pod goes home"),
        (it.kin == Kin::Db && is_named, "a member goes home under its name"),
        (usable.len() > 1, "a seat of two is taken"),
        (is_named && usable.iter().any(is_older), "named, although another is older"),
        (promise.form == Form::Newer, "takes a newer one"),
        (promise.form == Form::Plain, "takes from the pool"),
    ];
    notes.iter().filter(|(is_so, _)| *is_so).map(|(_, note)| *note).collect()
}

pub(super) fn settled(town: &mut Town, house: usize, lines: &[Line]) {
    let mut met = Vec::new();
    for line in lines {
        let promise = &town.promises[line.promise];
        let is_part = line.held != Amounts::default() && line.held != promise.amount;
        let is_stamped = |guest: usize| town.guests[guest].stamp() == Some(&promise.id);
        let note = match (promise.form, line.fate) {
            (Form::Plain, Fate::Occupied) => "plain used up",
            (Form::Plain, Fate::Held) if is_part => "plain held in part",
            (Form::Newer, Fate::Held) => "newer held",
            (Form::Newer, Fate::Expired) => "newer over",
            (Form::Newer, Fate::Taken(_)) => "newer taken",
            (Form::Recorded, Fate::Taken(guest)) if is_stamped(guest) => "taken with a stamp",
            (Form::Recorded, Fate::Taken(_)) => "taken without a stamp",
            (_, Fate::Expired) if lines.iter().any(|line| line.fate == Fate::Held) => "expired beside live",
            _ => continue,
        };
        met.push(note);
    }
    met.extend(stamps(town, house, lines));
    let seats = |whom: Whom| {
        let same = |line: &&Line| {
            let promise = &town.promises[line.promise];
            line.fate == Fate::Held && promise.whom == whom && promise.form == Form::Recorded
        };
        lines.iter().filter(same).count()
    };
    let is_double = lines.iter().any(|line| seats(town.promises[line.promise].whom) > 1);
    let is_noisy = !lines.is_empty() && !town.houses[house].noise.is_empty();
    let notes = [(is_double, "two seats of one owner"), (is_noisy, "noise beside a reservation")];
    met.extend(notes.iter().filter(|(is_so, _)| *is_so).map(|(_, note)| *note));
    town.met.extend(met);
}

/// What there is to say of the stamps on the pods of a node.
fn stamps(town: &Town, house: usize, lines: &[Line]) -> Vec<&'static str> {
    let mut met = Vec::new();
    for guest in books::counted(town, house).into_iter().map(|guest| &town.guests[guest]) {
        let Some(stamp) = guest.stamp() else { continue };
        let is_kept = |line: &Line| line.fate == Fate::Held && town.promises[line.promise].id == *stamp;
        if lines.iter().any(is_kept) {
            met.push("a forged stamp, and the room is kept");
        }
        match lines.iter().map(|line| &town.promises[line.promise]).find(|promise| promise.id == *stamp) {
            None => met.push("a stamp that names what is gone"),
            Some(promise) if !books::may_use(town, guest, promise) => {
                met.push("a forged stamp counts for nothing")
            }
            Some(_) => {}
        }
    }
    met
}
