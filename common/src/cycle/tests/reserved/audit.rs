//! What is decided, against what the reference says.

use super::books::{self, Fate, Line};
use super::opinion::{Opinion, Said, opinion};
use super::town::{Amounts, Form, Place, RESOURCES, Town};
use crate::cluster::ledger::Entry;
use crate::cluster::{Snapshot, State};
use crate::cycle::{Decision, Depth, judge, schedule, schedule_by_scan};
use crate::framework::{Numbers, Reason, Registry, Rejection};
use crate::model::{HostPort, Pod, ReservationId};
use crate::plugins::without_reservations;
use crate::testing::at;
use std::collections::{BTreeMap, BTreeSet};

/// Plugins that look at who else is near: the reference believes what they say.
const NEIGHBOURS: [&str; 2] = ["InterPodAffinity", "PodTopologySpread"];
const OURS: [&str; 3] = ["NodePorts", "NodeResourcesFit", "Reservation"];

/// Judges the pod on every node, and schedules it; where it goes, and which seat it takes there.
pub(super) fn decided(
    town: &mut Town,
    guest: usize,
    registry: &Registry,
) -> Option<(usize, Option<ReservationId>)> {
    let key = town.pod(guest).key;
    let now = at(town.now);
    let mut cluster = std::mem::take(&mut town.cluster);
    let pod = cluster.pod(&key).cloned().unwrap();
    let snapshot = cluster.snapshot(now);
    let feasible = judged(town, guest, &pod, &snapshot, registry);
    let decision = schedule(&pod, &snapshot, registry);
    assert_eq!(decision, schedule_by_scan(&pod, &snapshot, registry), "{key}");
    let placed = match decision {
        Decision::Place { node, seat, .. } => {
            let house = town.houses.iter().position(|house| house.name == node.as_str()).unwrap();
            Some((house, seat))
        }
        Decision::NoFit(_) => None,
        other => panic!("{other:?}"),
    };
    town.cluster = cluster;
    check_choice(town, guest, &feasible, placed.as_ref());
    if let Some((house, _)) = placed {
        check_overcommitment(town, guest, house);
    }
    placed
}

/// The nodes that can have the pod, each with the reservation that it would take there.
fn judged(
    town: &mut Town,
    guest: usize,
    pod: &Pod,
    snapshot: &Snapshot<'_>,
    registry: &Registry,
) -> BTreeMap<usize, Option<usize>> {
    let trace = judge(&snapshot.asker(pod), snapshot, registry, Depth::All).unwrap();
    assert_eq!(trace.nodes.len(), town.houses.iter().filter(|house| house.there).count());
    let mut feasible = BTreeMap::new();
    for node in &trace.nodes {
        let name = snapshot.name(node.id).unwrap();
        let house = town.houses.iter().position(|house| house.name == name.as_str()).unwrap();
        let opinion = opinion(town, house, guest);
        let by =
            |plugins: &[&str]| node.rejections.iter().filter(|one| plugins.contains(&one.plugin)).count();
        let (neighbours, ours) = (by(&NEIGHBOURS), by(&OURS));
        let ours_said = said(&node.rejections);
        assert_eq!(ours_said, opinion.said, "{} on {} at {}", pod.key, name, town.now);
        let others = node.rejections.len() - neighbours - ours;
        assert_eq!(others == 0, opinion.lets_in, "{:?}", node.rejections);
        if node.rejections.is_empty() {
            feasible.insert(house, opinion.own);
        }
        super::met::judged(town, guest, &opinion);
    }
    // I13: whom every reservation yields to is not kept out by any.
    let other = judge(&snapshot.asker(pod), snapshot, &without_reservations(), Depth::All).unwrap();
    for (node, other) in trace.nodes.iter().zip(&other.nodes) {
        let name = snapshot.name(node.id).unwrap();
        let house = town.houses.iter().position(|house| house.name == name.as_str()).unwrap();
        if books::is_exempt(town, &town.guests[guest], house) {
            assert_eq!(node, other, "{} is kept out of {name}", pod.key);
        }
    }
    feasible
}

/// What our three plugins said, in the words of the reference.
fn said(rejections: &[Rejection]) -> Vec<Said> {
    let ours = rejections.iter().filter(|one| OURS.contains(&one.plugin));
    let mut all: Vec<Said> = ours.map(one_said).collect();
    all.sort();
    all
}

fn one_said(rejection: &Rejection) -> Said {
    let plugin = rejection.plugin;
    let counted = |it: &Numbers| [it.asks, it.allocatable, it.used, it.reserved];
    match &rejection.reason {
        Reason::TooManyPods(numbers) => {
            Said { plugin, what: "pods".into(), numbers: counted(numbers), kept: Vec::new() }
        }
        Reason::Insufficient { resource, numbers, kept } => {
            let kept = kept.iter().map(|one| format!("{} {}", one.reservation, one.amount)).collect();
            Said { plugin, what: resource.to_string(), numbers: counted(numbers), kept }
        }
        Reason::Ports { ports, kept } => {
            let port = |one: &HostPort| format!("{} {} {},", one.protocol, one.ip, one.port);
            let (what, kept) =
                (ports.iter().map(port).collect(), kept.iter().map(ToString::to_string).collect());
            Said { plugin, what, numbers: [0; 4], kept }
        }
        other => panic!("{other:?}"),
    }
}

/// The pod goes where it can, home if it can, and takes the seat that it would take.
fn check_choice(
    town: &mut Town,
    guest: usize,
    feasible: &BTreeMap<usize, Option<usize>>,
    placed: Option<&(usize, Option<ReservationId>)>,
) {
    let Some((house, seat)) = placed else {
        assert!(feasible.is_empty(), "{feasible:?}");
        return;
    };
    let own = feasible.get(house).unwrap_or_else(|| panic!("n{house} cannot have it"));
    assert_eq!(own.is_some(), feasible.values().any(Option::is_some), "it does not go home");
    let named = own.filter(|promise| town.promises[*promise].form != Form::Plain);
    let expected = named.map(|promise| town.reservation_id(&town.promises[promise]));
    assert_eq!(*seat, expected, "the seat of {}", town.guests[guest].name);
    super::met::placed(town, guest, *house, *own, feasible.len());
}

/// I1: as it will be there, nothing of what it asks for is promised twice because of us.
fn check_overcommitment(town: &mut Town, guest: usize, house: usize) {
    let before = promised(town, guest, house);
    let seat = opinion(town, house, guest).own.map(|promise| town.promises[promise].id.clone());
    let waiting = town.guests[guest].clone();
    let seat = seat.filter(|id| id.contains('.'));
    let placed = &mut town.guests[guest];
    (placed.place, placed.seat, placed.since) = (Place::Assumed(house), seat, Some(town.now));
    let after = promised(town, guest, house);
    town.guests[guest] = waiting;
    for (index, resource) in
        RESOURCES.iter().enumerate().filter(|(index, _)| town.guests[guest].asks[*index] > 0)
    {
        let has = town.houses[house].has[index];
        assert!(after.0[index] <= has, "{resource} of n{house}: {after:?}");
        assert!(after.1[index] <= has.max(before.1[index]), "{resource} of n{house}: {before:?} {after:?}");
    }
}

/// What is used and held on the node for others than the guest, as far as it does not yield; then the same with the
/// pools that the guest may draw from.
fn promised(town: &Town, guest: usize, house: usize) -> (Amounts, Amounts) {
    let it = &town.guests[guest];
    let lines = books::lines(town, house);
    let stays = lines.iter().filter(|line| !books::yields(town, &town.promises[line.promise], it));
    let (mut strict, mut all) = (books::used(town, house), books::used(town, house));
    for line in stays {
        let promise = &town.promises[line.promise];
        let is_pool = promise.form == Form::Plain && books::may_use(town, it, promise);
        all = books::sum([all, line.held].into_iter());
        strict = if is_pool { strict } else { books::sum([strict, line.held].into_iter()) };
    }
    (strict, all)
}

/// Every node's books against the reference's: I3 and I5.
pub(super) fn check_books(town: &mut Town) {
    let mut cluster = std::mem::take(&mut town.cluster);
    let snapshot = cluster.snapshot(at(town.now));
    for ledger in snapshot.nodes() {
        let house = town.houses.iter().position(|house| house.name == ledger.node.name.as_str()).unwrap();
        let lines = books::lines(town, house);
        assert_eq!(RESOURCES.map(|name| ledger.used.get(&name.into())), books::used(town, house));
        assert_eq!(ledger.entries.len(), lines.len());
        let mut takers = BTreeSet::new();
        for line in &lines {
            let id = &town.promises[line.promise].id;
            let entry = ledger.entries.iter().find(|entry| entry.reservation.id.to_string() == *id).unwrap();
            check_entry(town, line, entry);
            assert!(entry.taken_by.iter().all(|taker| takers.insert(&taker.uid)), "two seats");
            town.met.insert(entry.state.as_str());
        }
        super::met::settled(town, house, &lines);
    }
    town.cluster = cluster;
}

fn check_entry(town: &Town, line: &Line, entry: &Entry) {
    let id = &town.promises[line.promise].id;
    let taker = match line.fate {
        Fate::Taken(guest) => Some(town.guests[guest].uid.clone()),
        _ => None,
    };
    assert_eq!(entry.taken_by.as_ref().map(|pod| pod.uid.to_string()), taker, "{id}");
    let is_same = match entry.state {
        State::Occupied => line.fate == Fate::Occupied,
        State::Held | State::Short => line.fate == Fate::Held,
        State::Taken => matches!(line.fate, Fate::Taken(_)),
        State::Expired => line.fate == Fate::Expired,
    };
    assert!(is_same, "{id} is {:?}, not {:?}", entry.state, line.fate);
    assert_eq!(RESOURCES.map(|name| entry.held.get(&name.into())), line.held, "{id}");
}

/// All that the reference says about a waiting pod.
pub(super) fn opinions(town: &Town, guest: usize) -> Vec<Opinion> {
    let there = (0..town.houses.len()).filter(|house| town.houses[*house].there);
    there.map(|house| opinion(town, house, guest)).collect()
}
