//! I3 and I5 over random histories: each reservation is counted exactly once, and taken by one pod at most.

use super::expected_states::{ExpectedState, expected_states, used};
use super::test_cluster::{Family, StampKind, Step, TestCluster};
use crate::cluster::ReservationState;
use crate::cluster::ledger::Ledger;
use crate::testing::at;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use std::collections::BTreeSet;

fn family() -> impl Strategy<Value = Family> {
    prop_oneof![2 => Just(Family::Deployment), 1 => Just(Family::StatefulSet), 1 => Just(Family::Bare)]
}

fn stamp_kind() -> impl Strategy<Value = StampKind> {
    prop_oneof![3 => Just(StampKind::None), 4 => (0..8_usize).prop_map(StampKind::Ours), 1 => Just(StampKind::Foreign)]
}

fn create() -> impl Strategy<Value = Step> {
    let cpu = prop::sample::select(vec![100_i64, 250, 500, 1000]);
    let related = prop::bool::weighted(0.75);
    (related, stamp_kind(), cpu, prop::bool::weighted(0.3), prop::bool::weighted(0.9)).prop_map(
        |(related, stamp_kind, cpu, assumed, scheduled)| Step::Create {
            related,
            stamp_kind,
            cpu,
            // Only our own scheduler assumes pods, and it writes correct stamps.
            assumed: assumed && related,
            scheduled,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let choice = any::<usize>;
    let life = || prop::sample::select(vec![1_i64, 5, 30, 600]);
    prop_oneof![
        8 => create(),
        2 => choice().prop_map(Step::Confirm),
        1 => choice().prop_map(Step::Forget),
        6 => (choice(), life()).prop_map(|(test_pod, life)| Step::Reserve { test_pod, life }),
        1 => (1..2000_i64, life()).prop_map(|(cpu, life)| Step::Add { cpu, life }),
        3 => choice().prop_map(Step::MarkDeleting),
        5 => choice().prop_map(Step::Delete),
        2 => choice().prop_map(Step::End),
        2 => choice().prop_map(Step::Remove),
        4 => (0..8_i64).prop_map(Step::AdvanceTime),
        1 => Just(Step::Relist),
    ]
}

/// Compares the ledger with the expected states, and both with the invariants.
fn audit(test_cluster: &mut TestCluster) {
    let ledger = test_cluster.cluster.snapshot(at(test_cluster.now)).nodes().next().unwrap().clone();
    let (test_cluster, ledger) = (&*test_cluster, &ledger);
    let expected = expected_states(test_cluster);
    assert_eq!(ledger.entries.len(), expected.len());
    let mut takers = BTreeSet::new();
    let mut held = 0;
    for (index, state) in expected {
        let test_reservation = &test_cluster.test_reservations[index];
        let entry = ledger.entries.iter().find(|entry| entry.reservation.id == test_reservation.id).unwrap();
        let found = match entry.state {
            ReservationState::Occupied => ExpectedState::Occupied,
            ReservationState::Held | ReservationState::Short => ExpectedState::Held,
            ReservationState::Taken => {
                ExpectedState::Taken(pod_index(test_cluster, entry.taken_by.as_ref().unwrap()))
            }
            ReservationState::Expired => ExpectedState::Expired,
        };
        assert_eq!(found, state, "{} at {}", test_reservation.id, test_cluster.now);
        held += entry.held.cpu;
        assert_eq!(entry.held.cpu, if state == ExpectedState::Held { test_reservation.cpu } else { 0 });
        assert_eq!(entry.held.pods, i64::from(state == ExpectedState::Held));
        assert_counted_once(
            test_cluster,
            index,
            entry.held.cpu > 0,
            entry.taken_by.as_ref().map(|pod| pod_index(test_cluster, pod)),
        );
        if let Some(pod) = &entry.taken_by {
            assert!(takers.insert(pod.uid.clone()), "{} sits on two seats", pod.key);
        }
    }
    assert_eq!(ledger.used.cpu, used(test_cluster));
    check_short(ledger, held);
}

/// I3: while a reservation is live, exactly one of the replaced pod, the held room and the taker counts; after that none of them.
fn assert_counted_once(test_cluster: &TestCluster, index: usize, held: bool, taker: Option<usize>) {
    let test_reservation = &test_cluster.test_reservations[index];
    let replaced =
        test_reservation.replaces.is_some_and(|test_pod| test_cluster.test_pods[test_pod].is_counted());
    let taken = taker.is_some_and(|test_pod| test_cluster.test_pods[test_pod].is_counted());
    if test_cluster.now < test_reservation.expires {
        assert_eq!(u8::from(replaced) + u8::from(held) + u8::from(taken), 1, "{}", test_reservation.id);
    } else {
        assert!(!held && taker.is_none(), "{} is over", test_reservation.id);
    }
}

fn check_short(ledger: &Ledger, held: i64) {
    let is_over = ledger.used.cpu + held > ledger.node.allocatable.cpu;
    let keeps = ledger.entries.iter().filter(|entry| !entry.held.is_zero());
    keeps.for_each(|entry| assert_eq!(entry.state == ReservationState::Short, is_over));
}

fn pod_index(test_cluster: &TestCluster, pod: &crate::model::Pod) -> usize {
    let same = |index: &usize| crate::testing::uid(&format!("test_pod {index}")) == pod.uid;
    (0..test_cluster.test_pods.len()).find(same).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn each_reservation_is_counted_exactly_once(
        family in family(),
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let mut test_cluster = TestCluster::new(family);
        for step in &steps {
            test_cluster.apply_step(step);
            audit(&mut test_cluster);
        }
    }
}

/// The generator reaches every state, so that the property above tests each of them.
#[test]
fn histories_reach_every_fate() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for _ in 0..100 {
        let steps = prop::collection::vec(step(), 30).new_tree(&mut runner).unwrap().current();
        let mut test_cluster = TestCluster::new(Family::Deployment);
        for step in &steps {
            test_cluster.apply_step(step);
            let snapshot = test_cluster.cluster.snapshot(at(test_cluster.now));
            seen.extend(snapshot.nodes().next().unwrap().entries.iter().map(|entry| entry.state.as_str()));
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["Expired", "Held", "Occupied", "Short", "Taken"]);
}
