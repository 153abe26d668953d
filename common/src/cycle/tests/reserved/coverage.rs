//! Records which cases the random histories reach, so that a test can check that they reach all of [`ALL`].

use super::expectation::Expectation;
use super::pod_owner::PodOwner;
use super::reference_ledger::{self, CRITICAL, ReferenceEntry, ReferenceState};
use super::test_cluster::{
    Amounts, Form, NeighbourPreference, ReservationOwner, TestCluster, TestReservation,
};

/// All cases that the histories must reach.
pub(super) const ALL: [&str; 44] = [
    "Expired",
    "Held",
    "Occupied",
    "Short",
    "Taken",
    "a bare pod goes to its node",
    "a forged stamp counts for nothing",
    "a liar is kept out",
    "a forged stamp, and the room is kept",
    "a member goes to its node under its name",
    "a namesake elsewhere is a stranger",
    "a seat of two is taken",
    "a stamp that names what is gone",
    "confirmed",
    "expired beside live",
    "forgotten",
    "goes to its node although others would do",
    "its node cannot have it",
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

pub(super) fn record_verdict(test_cluster: &mut TestCluster, test_pod: usize, expectation: &Expectation) {
    let pod_owner = test_cluster.test_pods[test_pod].pod_owner;
    let mut reached = Vec::new();
    for rejection in &expectation.rejections {
        reached.push(match (rejection.plugin, &*rejection.what) {
            ("Reservation", "cpu") => "kept: cpu",
            ("Reservation", "memory") => "kept: memory",
            ("Reservation", "ephemeral-storage") => "kept: ephemeral-storage",
            ("Reservation", "pods") => "kept: pods",
            ("Reservation", "nvidia.com/gpu") => "kept: nvidia.com/gpu",
            ("Reservation", _) => "kept: ports",
            ("NodePorts", _) => "ports in use",
            _ => continue,
        });
        if rejection.plugin == "Reservation" && matches!(pod_owner, PodOwner::False(_)) {
            reached.push("a liar is kept out");
        }
    }
    let is_namesake = |test_reservation: &TestReservation| match test_reservation.reservation_owner {
        ReservationOwner::Pod(owner) => {
            let (owner, it) = (&test_cluster.test_pods[owner], &test_cluster.test_pods[test_pod]);
            owner.name == it.name
                && pod_owner.is_bare()
                && pod_owner.namespace() != owner.pod_owner.namespace()
        }
        ReservationOwner::Workload(_) => false,
    };
    if test_cluster.test_reservations.iter().any(|test_reservation| {
        reference_ledger::is_live(test_cluster, test_reservation) && is_namesake(test_reservation)
    }) {
        reached.push("a namesake elsewhere is a stranger");
    }
    if expectation.own.is_some() && !expectation.rejections.is_empty() {
        reached.push("its node cannot have it");
    }
    test_cluster.covered.extend(reached);
}

pub(super) fn record_placement(
    test_cluster: &mut TestCluster,
    test_pod: usize,
    test_node: usize,
    own: Option<usize>,
    feasible: usize,
) {
    let mut reached = Vec::new();
    let it = &test_cluster.test_pods[test_pod];
    if it.neighbours != NeighbourPreference::None {
        reached.push("minds its neighbours, and is placed");
    }
    let entries = reference_ledger::entries(test_cluster, test_node);
    for entry in entries.iter().filter(|entry| entry.state == ReferenceState::Held) {
        let test_reservation = &test_cluster.test_reservations[entry.test_reservation];
        if own == Some(entry.test_reservation)
            || !reference_ledger::yields(test_cluster, test_reservation, it)
        {
            continue;
        }
        reached.push(match it.priority {
            CRITICAL.. => "yields to the system",
            _ if it.pod_owner == PodOwner::Agent && it.priority <= test_reservation.priority => {
                "yields to a DaemonSet"
            }
            _ => "yields to higher priority",
        });
    }
    reached
        .extend(own.iter().flat_map(|own| placement_cases(test_cluster, test_pod, &entries, *own, feasible)));
    test_cluster.covered.extend(reached);
}

/// The cases of a pod that goes to a node with a reservation for it.
fn placement_cases(
    test_cluster: &TestCluster,
    test_pod: usize,
    entries: &[ReferenceEntry],
    own: usize,
    feasible: usize,
) -> Vec<&'static str> {
    let it = &test_cluster.test_pods[test_pod];
    let may_use = |entry: &&ReferenceEntry| {
        reference_ledger::may_use(test_cluster, it, &test_cluster.test_reservations[entry.test_reservation])
    };
    let usable: Vec<&ReferenceEntry> =
        entries.iter().filter(|entry| entry.state == ReferenceState::Held).filter(may_use).collect();
    let test_reservation = &test_cluster.test_reservations[own];
    let is_named = test_reservation.replaces.is_some_and(|old| test_cluster.test_pods[old].name == it.name);
    let is_older = |entry: &&ReferenceEntry| {
        let other = &test_cluster.test_reservations[entry.test_reservation];
        other.form == Form::Recorded && reference_ledger::age(other) < reference_ledger::age(test_reservation)
    };
    let cases = [
        (feasible > 1, "goes to its node although others would do"),
        (it.pod_owner.is_bare(), "a bare pod goes to its node"),
        (it.pod_owner == PodOwner::Db && is_named, "a member goes to its node under its name"),
        (usable.len() > 1, "a seat of two is taken"),
        (is_named && usable.iter().any(is_older), "named, although another is older"),
        (test_reservation.form == Form::Newer, "takes a newer one"),
        (test_reservation.form == Form::Plain, "takes from the pool"),
    ];
    cases.iter().filter(|(is_so, _)| *is_so).map(|(_, case)| *case).collect()
}

pub(super) fn record_entries(test_cluster: &mut TestCluster, test_node: usize, entries: &[ReferenceEntry]) {
    let mut reached = Vec::new();
    for entry in entries {
        let test_reservation = &test_cluster.test_reservations[entry.test_reservation];
        let is_part = entry.held != Amounts::default() && entry.held != test_reservation.amount;
        let is_stamped =
            |test_pod: usize| test_cluster.test_pods[test_pod].stamp() == Some(&test_reservation.id);
        let case = match (test_reservation.form, entry.state) {
            (Form::Plain, ReferenceState::Occupied) => "plain used up",
            (Form::Plain, ReferenceState::Held) if is_part => "plain held in part",
            (Form::Newer, ReferenceState::Held) => "newer held",
            (Form::Newer, ReferenceState::Expired) => "newer over",
            (Form::Newer, ReferenceState::Taken(_)) => "newer taken",
            (Form::Recorded, ReferenceState::Taken(test_pod)) if is_stamped(test_pod) => "taken with a stamp",
            (Form::Recorded, ReferenceState::Taken(_)) => "taken without a stamp",
            (_, ReferenceState::Expired)
                if entries.iter().any(|entry| entry.state == ReferenceState::Held) =>
            {
                "expired beside live"
            }
            _ => continue,
        };
        reached.push(case);
    }
    reached.extend(stamp_cases(test_cluster, test_node, entries));
    let seats = |reservation_owner: ReservationOwner| {
        let same = |entry: &&ReferenceEntry| {
            let test_reservation = &test_cluster.test_reservations[entry.test_reservation];
            entry.state == ReferenceState::Held
                && test_reservation.reservation_owner == reservation_owner
                && test_reservation.form == Form::Recorded
        };
        entries.iter().filter(same).count()
    };
    let is_double = entries
        .iter()
        .any(|entry| seats(test_cluster.test_reservations[entry.test_reservation].reservation_owner) > 1);
    let is_noisy = !entries.is_empty() && !test_cluster.test_nodes[test_node].noise.is_empty();
    let cases = [(is_double, "two seats of one owner"), (is_noisy, "noise beside a reservation")];
    reached.extend(cases.iter().filter(|(is_so, _)| *is_so).map(|(_, case)| *case));
    test_cluster.covered.extend(reached);
}

/// The cases of the stamps on the pods of a node.
fn stamp_cases(
    test_cluster: &TestCluster,
    test_node: usize,
    entries: &[ReferenceEntry],
) -> Vec<&'static str> {
    let mut reached = Vec::new();
    for test_pod in reference_ledger::counted(test_cluster, test_node)
        .into_iter()
        .map(|test_pod| &test_cluster.test_pods[test_pod])
    {
        let Some(stamp) = test_pod.stamp() else { continue };
        let is_kept = |entry: &ReferenceEntry| {
            entry.state == ReferenceState::Held
                && test_cluster.test_reservations[entry.test_reservation].id == *stamp
        };
        if entries.iter().any(is_kept) {
            reached.push("a forged stamp, and the room is kept");
        }
        match entries
            .iter()
            .map(|entry| &test_cluster.test_reservations[entry.test_reservation])
            .find(|test_reservation| test_reservation.id == *stamp)
        {
            None => reached.push("a stamp that names what is gone"),
            Some(test_reservation)
                if !reference_ledger::may_use(test_cluster, test_pod, test_reservation) =>
            {
                reached.push("a forged stamp counts for nothing")
            }
            Some(_) => {}
        }
    }
    reached
}
