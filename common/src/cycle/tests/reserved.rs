//! Compares decisions with a reference, for several nodes, several owners and reservations of every form. The reference computes
//! ledgers and verdicts directly from the text of the design (design §4; I1, I3, I5, I13, I14).

mod check;
mod coverage;
mod expectation;
mod invariance;
mod pod_owner;
mod random;
mod reference_ledger;
mod steps;
mod test_cluster;
mod wire;

use crate::framework::Registry;
use crate::plugins::default_registry;
use crate::testing::RandomChoices;
use proptest::prelude::{ProptestConfig, any, prop, proptest};
use test_cluster::{PodLocation, TestCluster};

/// How many of the waiting pods are checked after every step.
const CHECKED_PODS: usize = 3;

/// Runs a random history, and checks ledgers and decisions after every step.
fn run_history(choices: &[u16], registry: &Registry) -> TestCluster {
    let mut random = RandomChoices::new(choices);
    let mut test_cluster = random::test_cluster(&mut random);
    while !random.is_over() {
        test_cluster.step(&mut random, registry);
        check::check_ledgers(&mut test_cluster);
        for test_pod in waiting(&test_cluster) {
            if check::check_decision(&mut test_cluster, test_pod, registry).is_none() {
                test_cluster.covered.insert("nowhere");
            }
        }
    }
    invariance::check(&mut test_cluster, registry);
    test_cluster
}

/// The newest waiting pods.
fn waiting(test_cluster: &TestCluster) -> Vec<usize> {
    let waits = |test_pod: &usize| test_cluster.test_pods[*test_pod].location == PodLocation::Waiting;
    (0..test_cluster.test_pods.len()).rev().filter(waits).take(CHECKED_PODS).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn decisions_are_those_of_the_brute_force_ledger(choices in prop::collection::vec(any::<u16>(), 100..350)) {
        run_history(&choices, &default_registry());
    }
}

/// The random histories reach every case in `coverage::ALL`, so that the property above covers each of them.
#[test]
fn histories_meet_everything() {
    use proptest::strategy::{Strategy, ValueTree};
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let registry = default_registry();
    let mut missing: Vec<&str> = coverage::ALL.to_vec();
    for _ in 0..200 {
        let choices = prop::collection::vec(any::<u16>(), 300).new_tree(&mut runner).unwrap().current();
        let test_cluster = run_history(&choices, &registry);
        missing.retain(|note| !test_cluster.covered.contains(note));
        if missing.is_empty() {
            return;
        }
    }
    panic!("never met: {missing:?}");
}
