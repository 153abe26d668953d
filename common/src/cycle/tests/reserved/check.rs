//! Compares decisions and ledgers with the reference (`expectation`, `reference_ledger`).

use super::expectation::{Expectation, ExpectedRejection, expectation};
use super::reference_ledger::{self, ReferenceEntry, ReferenceState};
use super::test_cluster::{Amounts, Form, PodLocation, RESOURCES, TestCluster};
use crate::cluster::ledger::Entry;
use crate::cluster::{ReservationState, Snapshot};
use crate::cycle::{Decision, Depth, diagnose, schedule, schedule_by_scan};
use crate::framework::{Numbers, Reason, Registry, Rejection};
use crate::model::{HostPort, Pod, ReservationId};
use crate::plugins::without_reservations;
use crate::testing::at;
use std::collections::{BTreeMap, BTreeSet};

/// Plugins that compare the pod with other pods near the node. The reference does not check these.
const NEIGHBOURS: [&str; 2] = ["InterPodAffinity", "PodTopologySpread"];
const OURS: [&str; 3] = ["NodePorts", "NodeResourcesFit", "Reservation"];

/// Checks the verdicts for the pod on every node, then schedules it. Returns the node that it goes to and the seat that it takes.
pub(super) fn check_decision(
    test_cluster: &mut TestCluster,
    test_pod: usize,
    registry: &Registry,
) -> Option<(usize, Option<ReservationId>)> {
    let key = test_cluster.pod(test_pod).key;
    let now = at(test_cluster.now);
    let mut cluster = std::mem::take(&mut test_cluster.cluster);
    let pod = cluster.pod(&key).cloned().unwrap();
    let snapshot = cluster.snapshot(now);
    let feasible = check_verdicts(test_cluster, test_pod, &pod, &snapshot, registry);
    let decision = schedule(&pod, &snapshot, registry);
    assert_eq!(decision, schedule_by_scan(&pod, &snapshot, registry), "{key}");
    let placed = match decision {
        Decision::Place { node, claims } => {
            let test_node =
                test_cluster.test_nodes.iter().position(|test_node| test_node.name == node.as_str()).unwrap();
            Some((test_node, claims.seat().cloned()))
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

/// Compares the rejections of every node with the reference. Returns the nodes that fit the pod, each with the reservation that the
/// pod would take there.
fn check_verdicts(
    test_cluster: &mut TestCluster,
    test_pod: usize,
    pod: &Pod,
    snapshot: &Snapshot<'_>,
    registry: &Registry,
) -> BTreeMap<usize, Option<usize>> {
    let diagnosis = diagnose(&snapshot.context(pod), snapshot, registry, Depth::All).unwrap();
    assert_eq!(
        diagnosis.nodes.len(),
        test_cluster.test_nodes.iter().filter(|test_node| test_node.there).count()
    );
    let mut feasible = BTreeMap::new();
    for node in &diagnosis.nodes {
        let name = snapshot.name(node.id).unwrap();
        let test_node =
            test_cluster.test_nodes.iter().position(|test_node| test_node.name == name.as_str()).unwrap();
        let expectation = expectation(test_cluster, test_node, test_pod);
        let by =
            |plugins: &[&str]| node.rejections.iter().filter(|one| plugins.contains(&one.plugin)).count();
        let (neighbours, ours) = (by(&NEIGHBOURS), by(&OURS));
        let found = found_rejections(&node.rejections);
        assert_eq!(found, expectation.rejections, "{} on {} at {}", pod.key, name, test_cluster.now);
        let others = node.rejections.len() - neighbours - ours;
        assert_eq!(others == 0, expectation.passes_others, "{:?}", node.rejections);
        if node.rejections.is_empty() {
            feasible.insert(test_node, expectation.own);
        }
        super::coverage::record_verdict(test_cluster, test_pod, &expectation);
    }
    // I13: reservations reject no pod that all of them yield to.
    let other = diagnose(&snapshot.context(pod), snapshot, &without_reservations(), Depth::All).unwrap();
    for (node, other) in diagnosis.nodes.iter().zip(&other.nodes) {
        let name = snapshot.name(node.id).unwrap();
        let test_node =
            test_cluster.test_nodes.iter().position(|test_node| test_node.name == name.as_str()).unwrap();
        if reference_ledger::is_exempt(test_cluster, &test_cluster.test_pods[test_pod], test_node) {
            assert_eq!(node, other, "{} is kept out of {name}", pod.key);
        }
    }
    feasible
}

/// The rejections by our three plugins, in the form of the reference.
fn found_rejections(rejections: &[Rejection]) -> Vec<ExpectedRejection> {
    let ours = rejections.iter().filter(|one| OURS.contains(&one.plugin));
    let mut all: Vec<ExpectedRejection> = ours.map(found_rejection).collect();
    all.sort();
    all
}

fn found_rejection(rejection: &Rejection) -> ExpectedRejection {
    let plugin = rejection.plugin;
    let counted = |it: &Numbers| [it.asks, it.allocatable, it.used, it.reserved];
    match &rejection.reason {
        Reason::TooManyPods(numbers) => {
            ExpectedRejection { plugin, what: "pods".into(), numbers: counted(numbers), kept: Vec::new() }
        }
        Reason::Insufficient { resource, numbers, blocked_by } => {
            let kept = blocked_by.iter().map(|one| format!("{} {}", one.reservation, one.amount)).collect();
            ExpectedRejection { plugin, what: resource.to_string(), numbers: counted(numbers), kept }
        }
        Reason::Ports { ports, blocked_by } => {
            let port = |one: &HostPort| format!("{} {} {},", one.protocol, one.ip, one.port);
            let (what, kept) =
                (ports.iter().map(port).collect(), blocked_by.iter().map(ToString::to_string).collect());
            ExpectedRejection { plugin, what, numbers: [0; 4], kept }
        }
        other => panic!("{other:?}"),
    }
}

/// The pod goes to a feasible node, to one with a reservation for it if there is one, and takes the expected seat.
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
    super::coverage::record_placement(test_cluster, test_pod, *test_node, *own, feasible.len());
}

/// I1: with the pod on the node, pods and reservations together do not exceed what the node has, in any resource that the pod
/// requests.
fn check_overcommitment(test_cluster: &mut TestCluster, test_pod: usize, test_node: usize) {
    let before = committed(test_cluster, test_pod, test_node);
    let seat = expectation(test_cluster, test_node, test_pod)
        .own
        .map(|test_reservation| test_cluster.test_reservations[test_reservation].id.clone());
    let waiting = test_cluster.test_pods[test_pod].clone();
    let seat = seat.filter(|id| id.contains('.'));
    let placed = &mut test_cluster.test_pods[test_pod];
    (placed.location, placed.seat, placed.since) =
        (PodLocation::Assumed(test_node), seat, Some(test_cluster.now));
    let after = committed(test_cluster, test_pod, test_node);
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

/// What pods use on the node, plus what reservations hold there that do not yield to the pod: first without the plain reservations
/// that the pod may use, then with them.
fn committed(test_cluster: &TestCluster, test_pod: usize, test_node: usize) -> (Amounts, Amounts) {
    let it = &test_cluster.test_pods[test_pod];
    let entries = reference_ledger::entries(test_cluster, test_node);
    let stays = entries.iter().filter(|entry| {
        !reference_ledger::yields(test_cluster, &test_cluster.test_reservations[entry.test_reservation], it)
    });
    let (mut strict, mut all) =
        (reference_ledger::used(test_cluster, test_node), reference_ledger::used(test_cluster, test_node));
    for entry in stays {
        let test_reservation = &test_cluster.test_reservations[entry.test_reservation];
        let is_pool = test_reservation.form == Form::Plain
            && reference_ledger::may_use(test_cluster, it, test_reservation);
        all = reference_ledger::sum([all, entry.held].into_iter());
        strict = if is_pool { strict } else { reference_ledger::sum([strict, entry.held].into_iter()) };
    }
    (strict, all)
}

/// Compares every node's ledger with the reference: I3 and I5.
pub(super) fn check_ledgers(test_cluster: &mut TestCluster) {
    let mut cluster = std::mem::take(&mut test_cluster.cluster);
    let snapshot = cluster.snapshot(at(test_cluster.now));
    for ledger in snapshot.nodes() {
        let test_node = test_cluster
            .test_nodes
            .iter()
            .position(|test_node| test_node.name == ledger.node.name.as_str())
            .unwrap();
        let entries = reference_ledger::entries(test_cluster, test_node);
        assert_eq!(
            RESOURCES.map(|name| ledger.used.get(&name.into())),
            reference_ledger::used(test_cluster, test_node)
        );
        assert_eq!(ledger.entries.len(), entries.len());
        let mut takers = BTreeSet::new();
        for expected in &entries {
            let id = &test_cluster.test_reservations[expected.test_reservation].id;
            let entry = ledger.entries.iter().find(|entry| entry.reservation.id.to_string() == *id).unwrap();
            check_entry(test_cluster, expected, entry);
            assert!(entry.taken_by.iter().all(|taker| takers.insert(&taker.uid)), "two seats");
            test_cluster.covered.insert(entry.state.as_str());
        }
        super::coverage::record_entries(test_cluster, test_node, &entries);
    }
    test_cluster.cluster = cluster;
}

fn check_entry(test_cluster: &TestCluster, expected: &ReferenceEntry, entry: &Entry) {
    let id = &test_cluster.test_reservations[expected.test_reservation].id;
    let taker = match expected.state {
        ReferenceState::Taken(test_pod) => Some(test_cluster.test_pods[test_pod].uid.clone()),
        _ => None,
    };
    assert_eq!(entry.taken_by.as_ref().map(|pod| pod.uid.to_string()), taker, "{id}");
    let is_same = match entry.state {
        ReservationState::Occupied => expected.state == ReferenceState::Occupied,
        ReservationState::Held | ReservationState::Short => expected.state == ReferenceState::Held,
        ReservationState::Taken => matches!(expected.state, ReferenceState::Taken(_)),
        ReservationState::Expired => expected.state == ReferenceState::Expired,
    };
    assert!(is_same, "{id} is {:?}, not {:?}", entry.state, expected.state);
    assert_eq!(RESOURCES.map(|name| entry.held.get(&name.into())), expected.held, "{id}");
}

/// What the reference expects of a waiting pod on each node.
pub(super) fn expectations(test_cluster: &TestCluster, test_pod: usize) -> Vec<Expectation> {
    let there =
        (0..test_cluster.test_nodes.len()).filter(|test_node| test_cluster.test_nodes[*test_node].there);
    there.map(|test_node| expectation(test_cluster, test_node, test_pod)).collect()
}
