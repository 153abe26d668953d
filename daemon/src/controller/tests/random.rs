//! Random histories: pods come and go, writes are lost, daemons die, two of them act at the same time. In the end no reservation is
//! left behind, and no node has more pods than room.

use super::test_cluster::{TestCluster, WriteFault};
use fastrand::Rng;

/// Long enough for every reservation to end: a life, and what invariant I7 allows in addition.
const LIFE_AND_MORE: u64 = 600 + 90;

/// One random change.
fn change(test_cluster: &mut TestCluster, rng: &mut Rng) {
    let web: Vec<String> = test_cluster
        .test_pods
        .iter()
        .filter(|(_, test_pod)| test_pod.is_web)
        .map(|(name, _)| name.clone())
        .collect();
    let some = |rng: &mut Rng| rng.choice(web.iter()).cloned();
    match rng.u32(0..14) {
        0..=2 => {
            if let Some(name) = some(rng) {
                test_cluster.delete(&name, rng.u64(0..2) * 20);
            }
        }
        3..=4 => {
            if let Some(name) = some(rng) {
                test_cluster.vanish(&name);
            }
        }
        5..=6 => test_cluster.reconcile(),
        7 => test_cluster.start_all(),
        8 => {
            test_cluster.replicas = rng.u32(0..4);
            test_cluster.send_workloads();
        }
        9 => {
            test_cluster.write_fault =
                [WriteFault::None, WriteFault::AnswerLost, WriteFault::RequestLost][rng.usize(0..3)]
        }
        10 => {
            let index = rng.usize(0..test_cluster.states.len());
            test_cluster.crash(index);
        }
        11 => test_cluster.wait(rng.u64(0..5)),
        _ => {
            test_cluster.run_one();
        }
    }
}

fn history(seed: u64, states: usize) {
    let mut rng = Rng::with_seed(seed);
    let mut test_cluster = TestCluster::new(&["n1", "n2"], states, 2);
    test_cluster.reconcile();
    test_cluster.run();
    test_cluster.start_all();
    test_cluster.create_pod(false, 0, None);
    for _ in 0..60 {
        change(&mut test_cluster, &mut rng);
        let per_node = |node: &str| test_cluster.reservations().iter().filter(|(of, _)| of == node).count();
        assert!(per_node("n1") <= 4 && per_node("n2") <= 4, "seed {seed}: {:?}", test_cluster.reservations());
        check_room(&test_cluster, seed);
    }
    // All faults end, and the cluster settles.
    test_cluster.write_fault = WriteFault::None;
    let leaving: Vec<String> = test_cluster
        .test_pods
        .iter()
        .filter(|(_, test_pod)| test_pod.leaves.is_some())
        .map(|(name, _)| name.clone())
        .collect();
    leaving.iter().for_each(|name| test_cluster.vanish(name));
    test_cluster.reconcile();
    test_cluster.run();
    for _ in 0..LIFE_AND_MORE / 30 {
        test_cluster.wait(30);
        test_cluster.start_all();
    }
    test_cluster.wait(30);
    assert_eq!(test_cluster.reservations(), [], "seed {seed}: left behind");
}

/// With a single daemon, no pod is bound where there is no room.
fn check_room(test_cluster: &TestCluster, seed: u64) {
    if test_cluster.states.len() > 1 {
        return;
    }
    for node in ["n1", "n2"] {
        let there =
            test_cluster.test_pods.values().filter(|test_pod| test_pod.node.as_deref() == Some(node)).count();
        assert!(there <= 1, "seed {seed}: {:?}", test_cluster.places());
    }
}

#[test]
fn nothing_is_left_behind_and_no_node_is_overfull() {
    for seed in 0..40 {
        history(seed, 1);
    }
}

#[test]
fn two_that_act_at_once_neither_double_nor_leave_behind() {
    for seed in 100..130 {
        history(seed, 2);
    }
}

#[test]
fn killed_after_each_effect_it_comes_to_the_same_end() {
    for dies in 0..12 {
        let mut test_cluster = super::full();
        let mut left = dies;
        let mut step = |test_cluster: &mut TestCluster| {
            while test_cluster.run_one() {
                if left == 0 {
                    test_cluster.crash(0);
                }
                left -= 1;
            }
        };
        test_cluster.delete("web-1", 20);
        test_cluster.reconcile();
        step(&mut test_cluster);
        test_cluster.vanish("web-1");
        step(&mut test_cluster);
        test_cluster.start_all();
        step(&mut test_cluster);
        test_cluster.wait(90);
        assert_eq!(test_cluster.places(), ["web-3 n1"], "killed after {dies}");
        assert_eq!(test_cluster.reservations(), [], "killed after {dies}");
    }
}
