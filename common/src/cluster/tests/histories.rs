//! I3 and I5 over random histories: each reservation is counted exactly once, and taken by one pod at most.

use super::accounts::{Fate, fates, used};
use super::history::{Family, Mark, Step, TestCluster};
use crate::cluster::State;
use crate::cluster::ledger::Ledger;
use crate::testing::at;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use std::collections::BTreeSet;

fn family() -> impl Strategy<Value = Family> {
    prop_oneof![2 => Just(Family::Deployment), 1 => Just(Family::StatefulSet), 1 => Just(Family::Bare)]
}

fn mark() -> impl Strategy<Value = Mark> {
    prop_oneof![3 => Just(Mark::None), 4 => (0..8_usize).prop_map(Mark::Ours), 1 => Just(Mark::Foreign)]
}

fn comes() -> impl Strategy<Value = Step> {
    let cpu = prop::sample::select(vec![100_i64, 250, 500, 1000]);
    let related = prop::bool::weighted(0.75);
    (related, mark(), cpu, prop::bool::weighted(0.3), prop::bool::weighted(0.9)).prop_map(
        |(related, mark, cpu, assumed, scheduled)| Step::Comes {
            related,
            mark,
            cpu,
            // Only our own scheduler assumes, and it stamps rightly.
            assumed: assumed && related,
            scheduled,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let who = any::<usize>;
    let life = || prop::sample::select(vec![1_i64, 5, 30, 600]);
    prop_oneof![
        8 => comes(),
        2 => who().prop_map(Step::Confirmed),
        1 => who().prop_map(Step::Forgotten),
        6 => (who(), life()).prop_map(|(test_pod, life)| Step::Reserved { test_pod, life }),
        1 => (1..2000_i64, life()).prop_map(|(cpu, life)| Step::Added { cpu, life }),
        3 => who().prop_map(Step::Deleting),
        5 => who().prop_map(Step::Gone),
        2 => who().prop_map(Step::Ended),
        2 => who().prop_map(Step::Removed),
        4 => (0..8_i64).prop_map(Step::TimePasses),
        1 => Just(Step::Relisted),
    ]
}

/// Compares the ledger with the accounts, and both with the invariants.
fn audit(test_cluster: &mut TestCluster) {
    let ledger = test_cluster.cluster.snapshot(at(test_cluster.now)).nodes().next().unwrap().clone();
    let (test_cluster, ledger) = (&*test_cluster, &ledger);
    let fates = fates(test_cluster);
    assert_eq!(ledger.entries.len(), fates.len());
    let mut takers = BTreeSet::new();
    let mut held = 0;
    for (index, fate) in fates {
        let test_reservation = &test_cluster.test_reservations[index];
        let entry = ledger.entries.iter().find(|entry| entry.reservation.id == test_reservation.id).unwrap();
        let found = match entry.state {
            State::Occupied => Fate::Occupied,
            State::Held | State::Short => Fate::Held,
            State::Taken => Fate::Taken(guest_of(test_cluster, entry.taken_by.as_ref().unwrap())),
            State::Expired => Fate::Expired,
        };
        assert_eq!(found, fate, "{} at {}", test_reservation.id, test_cluster.now);
        held += entry.held.cpu;
        assert_eq!(entry.held.cpu, if fate == Fate::Held { test_reservation.cpu } else { 0 });
        assert_eq!(entry.held.pods, i64::from(fate == Fate::Held));
        once(
            test_cluster,
            index,
            entry.held.cpu > 0,
            entry.taken_by.as_ref().map(|pod| guest_of(test_cluster, pod)),
        );
        if let Some(pod) = &entry.taken_by {
            assert!(takers.insert(pod.uid.clone()), "{} sits on two seats", pod.key);
        }
    }
    assert_eq!(ledger.used.cpu, used(test_cluster));
    check_short(ledger, held);
}

/// I3: exactly one of the replaced pod, the held room and the taker counts while it is live, and nothing after that.
fn once(test_cluster: &TestCluster, index: usize, held: bool, taker: Option<usize>) {
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
    keeps.for_each(|entry| assert_eq!(entry.state == State::Short, is_over));
}

fn guest_of(test_cluster: &TestCluster, pod: &crate::model::Pod) -> usize {
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
            test_cluster.live(step);
            audit(&mut test_cluster);
        }
    }
}

/// The generator reaches every fate, so that the property above says something about each.
#[test]
fn histories_reach_every_fate() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for _ in 0..100 {
        let steps = prop::collection::vec(step(), 30).new_tree(&mut runner).unwrap().current();
        let mut test_cluster = TestCluster::new(Family::Deployment);
        for step in &steps {
            test_cluster.live(step);
            let snapshot = test_cluster.cluster.snapshot(at(test_cluster.now));
            seen.extend(snapshot.nodes().next().unwrap().entries.iter().map(|entry| entry.state.as_str()));
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["Expired", "Held", "Occupied", "Short", "Taken"]);
}
