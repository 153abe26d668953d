//! Random nodes, pods and reservations. The numbers are small, so that the pods and reservations compete for room.

use super::pod_owner::{AGENT, PodOwner, WORKLOADS};
use super::reference_ledger::{CRITICAL, with_slot};
use super::test_cluster::{
    Amounts, Form, GPU, NeighbourPreference, PodLocation, Port, ReservationOwner, TestCluster, TestNode,
    TestPod, TestReservation,
};
use super::wire::NOISES;
use crate::testing::RandomChoices;
use std::collections::BTreeSet;

const GIB: i64 = 1 << 30;

/// A cluster of one to six nodes, in which some owners were not read yet.
pub(super) fn test_cluster(random: &mut RandomChoices<'_>) -> TestCluster {
    let test_nodes = (0..=random.below(6)).map(|number| test_node(number, random)).collect();
    TestCluster::new(test_nodes, std::array::from_fn::<bool, WORKLOADS, _>(|_| !random.one_in(6)))
}

pub(super) fn test_node(number: usize, random: &mut RandomChoices<'_>) -> TestNode {
    let has = [
        random.of(&[1000, 2000, 2000, 3000]),
        random.of(&[1, 2, 4]) * GIB,
        random.of(&[1, 2]) * GIB,
        random.of(&[2, 3, 4, 9]),
    ];
    TestNode {
        name: format!("n{number}"),
        there: true,
        has: [has[0], has[1], has[2], has[3], random.of(&[0, 1, 2])],
        cordoned: random.one_in(8),
        tainted: random.one_in(6),
        zone: random.below(2),
        noise: (0..random.below(3)).map(|_| random.below(NOISES)).collect::<BTreeSet<_>>(),
    }
}

fn ports(random: &mut RandomChoices<'_>) -> Vec<Port> {
    let all =
        [("TCP", "", 80), ("TCP", "10.0.0.1", 80), ("UDP", "", 80), ("TCP", "10.0.0.2", 80), ("TCP", "", 81)];
    let mut ports: Vec<Port> = (0..random.of(&[0, 0, 0, 1, 2])).map(|_| random.of(&all)).collect();
    ports.dedup();
    ports
}

fn amounts(random: &mut RandomChoices<'_>) -> Amounts {
    let (cpu, memory) = (random.of(&[500, 1000, 1000, 1500, 0]), random.of(&[0, 0, GIB / 2, GIB]));
    with_slot([cpu, memory, random.of(&[0, 0, GIB]), 1, random.of(&[0, 0, 1])])
}

pub(super) fn priority(random: &mut RandomChoices<'_>) -> i32 {
    random.of(&[0, 0, 0, 0, 10, 10, -5, CRITICAL])
}

/// A new pod; `None` if all names of its kind are in use.
pub(super) fn test_pod(test_cluster: &TestCluster, random: &mut RandomChoices<'_>) -> Option<TestPod> {
    let pod_owner = random.of(&PodOwner::ALL);
    let is_used = |name: &String| {
        let same = |test_pod: &TestPod| {
            test_pod.name == *name && test_pod.pod_owner.namespace() == pod_owner.namespace()
        };
        test_cluster.test_pods.iter().any(|test_pod| test_pod.location != PodLocation::Gone && same(test_pod))
    };
    let name = pod_owner.names(test_cluster.test_pods.len()).into_iter().find(|name| !is_used(name))?;
    // Half of the new pods copy the spec of an earlier pod, also of another owner, so that they are in one class.
    let template = test_cluster.test_pods.len().saturating_sub(1 + random.below(4));
    if let Some(template) = test_cluster.test_pods.get(template).filter(|_| random.one_in(2)) {
        let (uid, forged) =
            (test_cluster.fresh_uid(), random.one_in(3).then(|| forged(test_cluster, random)));
        let (seat, since, location, deleting) = (None, None, PodLocation::Waiting, false);
        return Some(TestPod {
            pod_owner,
            name,
            uid,
            forged,
            seat,
            since,
            location,
            deleting,
            ..template.clone()
        });
    }
    Some(TestPod {
        pod_owner,
        name,
        uid: test_cluster.fresh_uid(),
        asks: amounts(random),
        ports: ports(random),
        priority: priority(random),
        tolerates: random.one_in(2),
        zone: random.of(&[None, None, None, Some(0), Some(1)]),
        tied: (!random.one_in(4)).then(|| random.below(test_cluster.test_nodes.len())),
        neighbours: random.of(&[
            NeighbourPreference::None,
            NeighbourPreference::None,
            NeighbourPreference::None,
            NeighbourPreference::Preferred,
            NeighbourPreference::Required,
        ]),
        forged: random.one_in(3).then(|| forged(test_cluster, random)),
        seat: None,
        since: None,
        location: PodLocation::Waiting,
        deleting: false,
    })
}

/// A forged stamp: that of any reservation so far, or one that names nothing.
fn forged(test_cluster: &TestCluster, random: &mut RandomChoices<'_>) -> String {
    let never = format!("{}.never", test_cluster.workloads[random.below(WORKLOADS)].uid);
    let mut all = vec!["garbage".to_owned(), never];
    all.extend(
        test_cluster
            .test_reservations
            .iter()
            .rev()
            .take(8)
            .map(|test_reservation| test_reservation.id.clone()),
    );
    random.of(&all)
}

/// A new reservation of a random form, owner and node; `None` if the node has one of the same id.
pub(super) fn test_reservation(
    test_cluster: &TestCluster,
    random: &mut RandomChoices<'_>,
) -> Option<TestReservation> {
    let test_node = random.below(test_cluster.test_nodes.len());
    let form =
        random.of(&[Form::Recorded, Form::Recorded, Form::Recorded, Form::Plain, Form::Newer, Form::Newer]);
    let bare = (0..test_cluster.test_pods.len())
        .filter(|test_pod| test_cluster.test_pods[*test_pod].pod_owner.is_bare())
        .max();
    let reservation_owner = match (random.one_in(4), bare) {
        (true, Some(bare)) => ReservationOwner::Pod(bare),
        // The two Deployments are chosen more often than the others.
        _ => ReservationOwner::Workload(random.of(&[0, 0, 0, 1, 2, 2, 3, 5, 5, 5, 6, AGENT])),
    };
    let mut test_reservation = blank(test_cluster, test_node, reservation_owner, form);
    (test_reservation.amount, test_reservation.priority) = (amounts(random), priority(random));
    match form {
        Form::Recorded => test_reservation.ports = ports(random),
        Form::Plain => test_reservation.amount[0] = random.of(&[500, 1000, 1500, 2000]),
        Form::Newer => test_reservation.amount[0] = 500,
    }
    if form != Form::Recorded {
        test_reservation.amount[GPU] = 0;
    }
    let life = test_cluster.now + random.of(&[0, 5, 60, 60, 600]);
    test_reservation.expires = match form {
        Form::Recorded => Some(life),
        Form::Plain => None,
        Form::Newer => random.of(&[Some(life), None]),
    };
    let is_same = |other: &TestReservation| {
        other.test_node == test_node && other.id == test_reservation.id && !other.removed
    };
    (!test_cluster.test_reservations.iter().any(is_same)).then_some(test_reservation)
}

/// A reservation for the replacement of a pod, with the amounts and ports of that pod.
pub(super) fn replacing(
    test_cluster: &TestCluster,
    test_node: usize,
    test_pod: usize,
    random: &mut RandomChoices<'_>,
) -> Option<TestReservation> {
    let it = &test_cluster.test_pods[test_pod];
    let reservation_owner = match it.pod_owner.owners().last() {
        Some(top) => ReservationOwner::Workload(*top),
        None if it.pod_owner.is_bare() => ReservationOwner::Pod(test_pod),
        None => return None,
    };
    let test_reservation = blank(test_cluster, test_node, reservation_owner, Form::Recorded);
    let expires = Some(test_cluster.now + random.of(&[5, 60, 600]));
    let (amount, ports, priority) = (it.asks, it.ports.clone(), it.priority);
    Some(TestReservation { replaces: Some(test_pod), amount, ports, priority, expires, ..test_reservation })
}

/// A reservation of the same owner that was created a second earlier and replaces no pod.
pub(super) fn older(test_cluster: &TestCluster, test_reservation: &TestReservation) -> TestReservation {
    let (id, created) = (format!("{}old", test_reservation.id), test_cluster.now - 1);
    TestReservation { id, created, replaces: None, ports: Vec::new(), ..test_reservation.clone() }
}

fn blank(
    test_cluster: &TestCluster,
    test_node: usize,
    reservation_owner: ReservationOwner,
    form: Form,
) -> TestReservation {
    let (owner, number) = (test_cluster.uid_of(reservation_owner), test_cluster.test_reservations.len());
    // The order of seats differs from the order of creation.
    let seat = format!("s{}x{number}", number * 7 % 10);
    let id = if form == Form::Plain { owner } else { format!("{owner}.{seat}") };
    TestReservation {
        test_node,
        reservation_owner,
        form,
        id,
        replaces: None,
        amount: with_slot(Amounts::default()),
        ports: Vec::new(),
        priority: 0,
        created: test_cluster.now,
        expires: None,
        removed: false,
    }
}
