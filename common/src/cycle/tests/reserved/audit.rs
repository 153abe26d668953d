//! What is decided, against what the reference says.

use super::books::{self, Fate, Line};
use super::opinion::{Opinion, Said, opinion};
use super::test_cluster::{Amounts, Form, Place, RESOURCES, TestCluster};
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
    test_cluster: &mut TestCluster,
    test_pod: usize,
    registry: &Registry,
) -> Option<(usize, Option<ReservationId>)> {
    let key = test_cluster.pod(test_pod).key;
    let now = at(test_cluster.now);
    let mut cluster = std::mem::take(&mut test_cluster.cluster);
    let pod = cluster.pod(&key).cloned().unwrap();
    let snapshot = cluster.snapshot(now);
    let feasible = judged(test_cluster, test_pod, &pod, &snapshot, registry);
    let decision = schedule(&pod, &snapshot, registry);
    assert_eq!(decision, schedule_by_scan(&pod, &snapshot, registry), "{key}");
    let placed = match decision {
        Decision::Place { node, seat, .. } => {
            let test_node =
                test_cluster.test_nodes.iter().position(|test_node| test_node.name == node.as_str()).unwrap();
            Some((test_node, seat))
        }
        Decision::NoFit(_) => None,
        other => panic!("{other:?}"),
    };
    test_cluster.cluster = cluster;
    check_choice(test_cluster, test_pod, &feasible, placed.as_ref());
    if let Some((test_node, _)) = placed {
        check_overcommitment(test_cluster, test_pod, test_node);
    }
    placed
}

/// The nodes that can have the pod, each with the reservation that it would take there.
fn judged(
    test_cluster: &mut TestCluster,
    test_pod: usize,
    pod: &Pod,
    snapshot: &Snapshot<'_>,
    registry: &Registry,
) -> BTreeMap<usize, Option<usize>> {
    let trace = judge(&snapshot.pod_context(pod), snapshot, registry, Depth::All).unwrap();
    assert_eq!(trace.nodes.len(), test_cluster.test_nodes.iter().filter(|test_node| test_node.there).count());
    let mut feasible = BTreeMap::new();
    for node in &trace.nodes {
        let name = snapshot.name(node.id).unwrap();
        let test_node =
            test_cluster.test_nodes.iter().position(|test_node| test_node.name == name.as_str()).unwrap();
        let opinion = opinion(test_cluster, test_node, test_pod);
        let by =
            |plugins: &[&str]| node.rejections.iter().filter(|one| plugins.contains(&one.plugin)).count();
        let (neighbours, ours) = (by(&NEIGHBOURS), by(&OURS));
        let ours_said = said(&node.rejections);
        assert_eq!(ours_said, opinion.said, "{} on {} at {}", pod.key, name, test_cluster.now);
        let others = node.rejections.len() - neighbours - ours;
        assert_eq!(others == 0, opinion.lets_in, "{:?}", node.rejections);
        if node.rejections.is_empty() {
            feasible.insert(test_node, opinion.own);
        }
        super::met::judged(test_cluster, test_pod, &opinion);
    }
    // I13: whom every reservation yields to is not kept out by any.
    let other = judge(&snapshot.pod_context(pod), snapshot, &without_reservations(), Depth::All).unwrap();
    for (node, other) in trace.nodes.iter().zip(&other.nodes) {
        let name = snapshot.name(node.id).unwrap();
        let test_node =
            test_cluster.test_nodes.iter().position(|test_node| test_node.name == name.as_str()).unwrap();
        if books::is_exempt(test_cluster, &test_cluster.test_pods[test_pod], test_node) {
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

/// The pod goes where it can, to its reserved node if it can, and takes the seat that it would take.
fn check_choice(
    test_cluster: &mut TestCluster,
    test_pod: usize,
    feasible: &BTreeMap<usize, Option<usize>>,
    placed: Option<&(usize, Option<ReservationId>)>,
) {
    let Some((test_node, seat)) = placed else {
        assert!(feasible.is_empty(), "{feasible:?}");
        return;
    };
    let own = feasible.get(test_node).unwrap_or_else(|| panic!("n{test_node} cannot have it"));
    assert_eq!(own.is_some(), feasible.values().any(Option::is_some), "it does not go to its reserved node");
    let named =
        own.filter(|test_reservation| test_cluster.test_reservations[*test_reservation].form != Form::Plain);
    let expected = named.map(|test_reservation| {
        test_cluster.reservation_id(&test_cluster.test_reservations[test_reservation])
    });
    assert_eq!(*seat, expected, "the seat of {}", test_cluster.test_pods[test_pod].name);
    super::met::placed(test_cluster, test_pod, *test_node, *own, feasible.len());
}

/// I1: as it will be there, nothing of what it asks for is promised twice because of us.
fn check_overcommitment(test_cluster: &mut TestCluster, test_pod: usize, test_node: usize) {
    let before = promised(test_cluster, test_pod, test_node);
    let seat = opinion(test_cluster, test_node, test_pod)
        .own
        .map(|test_reservation| test_cluster.test_reservations[test_reservation].id.clone());
    let waiting = test_cluster.test_pods[test_pod].clone();
    let seat = seat.filter(|id| id.contains('.'));
    let placed = &mut test_cluster.test_pods[test_pod];
    (placed.place, placed.seat, placed.since) = (Place::Assumed(test_node), seat, Some(test_cluster.now));
    let after = promised(test_cluster, test_pod, test_node);
    test_cluster.test_pods[test_pod] = waiting;
    for (index, resource) in
        RESOURCES.iter().enumerate().filter(|(index, _)| test_cluster.test_pods[test_pod].asks[*index] > 0)
    {
        let has = test_cluster.test_nodes[test_node].has[index];
        assert!(after.0[index] <= has, "{resource} of n{test_node}: {after:?}");
        assert!(
            after.1[index] <= has.max(before.1[index]),
            "{resource} of n{test_node}: {before:?} {after:?}"
        );
    }
}

/// What is used and held on the node for others than the pod, as far as it does not yield; then the same with the
/// pools that the pod may draw from.
fn promised(test_cluster: &TestCluster, test_pod: usize, test_node: usize) -> (Amounts, Amounts) {
    let it = &test_cluster.test_pods[test_pod];
    let lines = books::lines(test_cluster, test_node);
    let stays = lines.iter().filter(|line| {
        !books::yields(test_cluster, &test_cluster.test_reservations[line.test_reservation], it)
    });
    let (mut strict, mut all) = (books::used(test_cluster, test_node), books::used(test_cluster, test_node));
    for line in stays {
        let test_reservation = &test_cluster.test_reservations[line.test_reservation];
        let is_pool =
            test_reservation.form == Form::Plain && books::may_use(test_cluster, it, test_reservation);
        all = books::sum([all, line.held].into_iter());
        strict = if is_pool { strict } else { books::sum([strict, line.held].into_iter()) };
    }
    (strict, all)
}

/// Every node's books against the reference's: I3 and I5.
pub(super) fn check_books(test_cluster: &mut TestCluster) {
    let mut cluster = std::mem::take(&mut test_cluster.cluster);
    let snapshot = cluster.snapshot(at(test_cluster.now));
    for ledger in snapshot.nodes() {
        let test_node = test_cluster
            .test_nodes
            .iter()
            .position(|test_node| test_node.name == ledger.node.name.as_str())
            .unwrap();
        let lines = books::lines(test_cluster, test_node);
        assert_eq!(RESOURCES.map(|name| ledger.used.get(&name.into())), books::used(test_cluster, test_node));
        assert_eq!(ledger.entries.len(), lines.len());
        let mut takers = BTreeSet::new();
        for line in &lines {
            let id = &test_cluster.test_reservations[line.test_reservation].id;
            let entry = ledger.entries.iter().find(|entry| entry.reservation.id.to_string() == *id).unwrap();
            check_entry(test_cluster, line, entry);
            assert!(entry.taken_by.iter().all(|taker| takers.insert(&taker.uid)), "two seats");
            test_cluster.met.insert(entry.state.as_str());
        }
        super::met::settled(test_cluster, test_node, &lines);
    }
    test_cluster.cluster = cluster;
}

fn check_entry(test_cluster: &TestCluster, line: &Line, entry: &Entry) {
    let id = &test_cluster.test_reservations[line.test_reservation].id;
    let taker = match line.fate {
        Fate::Taken(test_pod) => Some(test_cluster.test_pods[test_pod].uid.clone()),
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
pub(super) fn opinions(test_cluster: &TestCluster, test_pod: usize) -> Vec<Opinion> {
    let there =
        (0..test_cluster.test_nodes.len()).filter(|test_node| test_cluster.test_nodes[*test_node].there);
    there.map(|test_node| opinion(test_cluster, test_node, test_pod)).collect()
}
