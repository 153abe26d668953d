//! Decisions over several nodes, several owners and reservations of every form, against a reference that does the books
//! from the design's prose (design §4; I1, I3, I5, I13, I14).

mod audit;
mod books;
mod drawn;
mod kin;
mod life;
mod met;
mod opinion;
mod same;
mod test_cluster;
mod wire;

use crate::framework::Registry;
use crate::plugins::default_registry;
use crate::testing::Tape;
use proptest::prelude::{ProptestConfig, any, prop, proptest};
use test_cluster::{Place, TestCluster};

/// How many of the waiting pods are decided on at every moment.
const ASKED: usize = 3;

/// Goes through the history that is on the tape, and checks everything at every moment.
fn told(choices: &[u16], registry: &Registry) -> TestCluster {
    let mut tape = Tape::new(choices);
    let mut test_cluster = drawn::test_cluster(&mut tape);
    while !tape.is_over() {
        test_cluster.live(&mut tape, registry);
        audit::check_books(&mut test_cluster);
        for test_pod in waiting(&test_cluster) {
            if audit::decided(&mut test_cluster, test_pod, registry).is_none() {
                test_cluster.met.insert("nowhere");
            }
        }
    }
    same::check(&mut test_cluster, registry);
    test_cluster
}

/// Those who wait; the last that came.
fn waiting(test_cluster: &TestCluster) -> Vec<usize> {
    let waits = |test_pod: &usize| test_cluster.test_pods[*test_pod].place == Place::Waiting;
    (0..test_cluster.test_pods.len()).rev().filter(waits).take(ASKED).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn decisions_are_those_of_the_brute_force_ledger(choices in prop::collection::vec(any::<u16>(), 100..350)) {
        told(&choices, &default_registry());
    }
}

/// The histories meet everything, so that the property above says something about each.
#[test]
fn histories_meet_everything() {
    use proptest::strategy::{Strategy, ValueTree};
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let registry = default_registry();
    let mut missing: Vec<&str> = met::ALL.to_vec();
    for _ in 0..200 {
        let choices = prop::collection::vec(any::<u16>(), 300).new_tree(&mut runner).unwrap().current();
        let test_cluster = told(&choices, &registry);
        missing.retain(|note| !test_cluster.met.contains(note));
        if missing.is_empty() {
            return;
        }
    }
    panic!("never met: {missing:?}");
}
