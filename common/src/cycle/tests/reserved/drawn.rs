//! Things drawn at random: nodes, pods, reservations. Small numbers, so that they get in each other's way.

use super::books::{CRITICAL, with_slot};
use super::kin::{AGENT, Kin, WORKLOADS};
use super::test_cluster::{
    Amounts, Form, GPU, Mind, Place, Port, TestCluster, TestNode, TestPod, TestReservation, Whom,
};
use super::wire::NOISES;
use crate::testing::Tape;
use std::collections::BTreeSet;

const GIB: i64 = 1 << 30;

/// A cluster of one to six nodes, in which some owners were not read yet.
pub(super) fn test_cluster(tape: &mut Tape<'_>) -> TestCluster {
    let test_nodes = (0..=tape.below(6)).map(|number| test_node(number, tape)).collect();
    TestCluster::new(test_nodes, std::array::from_fn::<bool, WORKLOADS, _>(|_| !tape.one_in(6)))
}

pub(super) fn test_node(number: usize, tape: &mut Tape<'_>) -> TestNode {
    let has = [
        tape.of(&[1000, 2000, 2000, 3000]),
        tape.of(&[1, 2, 4]) * GIB,
        tape.of(&[1, 2]) * GIB,
        tape.of(&[2, 3, 4, 9]),
    ];
    TestNode {
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
pub(super) fn test_pod(test_cluster: &TestCluster, tape: &mut Tape<'_>) -> Option<TestPod> {
    let kin = tape.of(&Kin::ALL);
    let is_used = |name: &String| {
        let same = |test_pod: &TestPod| test_pod.name == *name && test_pod.kin.namespace() == kin.namespace();
        test_cluster.test_pods.iter().any(|test_pod| test_pod.place != Place::Gone && same(test_pod))
    };
    let name = kin.names(test_cluster.test_pods.len()).into_iter().find(|name| !is_used(name))?;
    // Pods that ask for the same are decided on together, whosever they are.
    let like = test_cluster.test_pods.len().saturating_sub(1 + tape.below(4));
    if let Some(like) = test_cluster.test_pods.get(like).filter(|_| tape.one_in(2)) {
        let (uid, forged) = (test_cluster.fresh_uid(), tape.one_in(3).then(|| forged(test_cluster, tape)));
        let (seat, since, place, deleting) = (None, None, Place::Waiting, false);
        return Some(TestPod { kin, name, uid, forged, seat, since, place, deleting, ..like.clone() });
    }
    Some(TestPod {
        kin,
        name,
        uid: test_cluster.fresh_uid(),
        asks: amounts(tape),
        ports: ports(tape),
        priority: priority(tape),
        tolerates: tape.one_in(2),
        zone: tape.of(&[None, None, None, Some(0), Some(1)]),
        tied: (!tape.one_in(4)).then(|| tape.below(test_cluster.test_nodes.len())),
        mind: tape.of(&[Mind::Not, Mind::Not, Mind::Not, Mind::Softly, Mind::Strictly]),
        forged: tape.one_in(3).then(|| forged(test_cluster, tape)),
        seat: None,
        since: None,
        place: Place::Waiting,
        deleting: false,
    })
}

/// The stamp of one of the reservations ever made, or something else.
fn forged(test_cluster: &TestCluster, tape: &mut Tape<'_>) -> String {
    let never = format!("{}.never", test_cluster.workloads[tape.below(WORKLOADS)].uid);
    let mut all = vec!["garbage".to_owned(), never];
    all.extend(
        test_cluster
            .test_reservations
            .iter()
            .rev()
            .take(8)
            .map(|test_reservation| test_reservation.id.clone()),
    );
    tape.of(&all)
}

/// A reservation in some form, for somebody, on some node; if the one like it is not there already.
pub(super) fn test_reservation(test_cluster: &TestCluster, tape: &mut Tape<'_>) -> Option<TestReservation> {
    let test_node = tape.below(test_cluster.test_nodes.len());
    let form =
        tape.of(&[Form::Recorded, Form::Recorded, Form::Recorded, Form::Plain, Form::Newer, Form::Newer]);
    let bare = (0..test_cluster.test_pods.len())
        .filter(|test_pod| test_cluster.test_pods[*test_pod].kin.is_bare())
        .max();
    let whom = match (tape.one_in(4), bare) {
        (true, Some(bare)) => Whom::Pod(bare),
        // More often the two Deployments than the others.
        _ => Whom::Workload(tape.of(&[0, 0, 0, 1, 2, 2, 3, 5, 5, 5, 6, AGENT])),
    };
    let mut test_reservation = blank(test_cluster, test_node, whom, form);
    (test_reservation.amount, test_reservation.priority) = (amounts(tape), priority(tape));
    match form {
        Form::Recorded => test_reservation.ports = ports(tape),
        Form::Plain => test_reservation.amount[0] = tape.of(&[500, 1000, 1500, 2000]),
        Form::Newer => test_reservation.amount[0] = 500,
    }
    if form != Form::Recorded {
        test_reservation.amount[GPU] = 0;
    }
    let life = test_cluster.now + tape.of(&[0, 5, 60, 60, 600]);
    test_reservation.expires = match form {
        Form::Recorded => Some(life),
        Form::Plain => None,
        Form::Newer => tape.of(&[Some(life), None]),
    };
    let is_same = |other: &TestReservation| {
        other.test_node == test_node && other.id == test_reservation.id && !other.removed
    };
    (!test_cluster.test_reservations.iter().any(is_same)).then_some(test_reservation)
}

/// A reservation of what a pod has, for whoever replaces it.
pub(super) fn replacing(
    test_cluster: &TestCluster,
    test_node: usize,
    test_pod: usize,
    tape: &mut Tape<'_>,
) -> Option<TestReservation> {
    let it = &test_cluster.test_pods[test_pod];
    let whom = match it.kin.owners().last() {
        Some(top) => Whom::Workload(*top),
        None if it.kin.is_bare() => Whom::Pod(test_pod),
        None => return None,
    };
    let test_reservation = blank(test_cluster, test_node, whom, Form::Recorded);
    let expires = Some(test_cluster.now + tape.of(&[5, 60, 600]));
    let (amount, ports, priority) = (it.asks, it.ports.clone(), it.priority);
    Some(TestReservation { replaces: Some(test_pod), amount, ports, priority, expires, ..test_reservation })
}

/// One of the same owner that was there before.
pub(super) fn older(test_cluster: &TestCluster, test_reservation: &TestReservation) -> TestReservation {
    let (id, created) = (format!("{}old", test_reservation.id), test_cluster.now - 1);
    TestReservation { id, created, replaces: None, ports: Vec::new(), ..test_reservation.clone() }
}

fn blank(test_cluster: &TestCluster, test_node: usize, whom: Whom, form: Form) -> TestReservation {
    let (owner, number) = (test_cluster.uid_of(whom), test_cluster.test_reservations.len());
    // Seats are not in the order in which they were made.
    let seat = format!("s{}x{number}", number * 7 % 10);
    let id = if form == Form::Plain { owner } else { format!("{owner}.{seat}") };
    TestReservation {
        test_node,
        whom,
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
