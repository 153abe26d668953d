//! A replica that does not lead creates the reservations that the leader has not created, and does nothing else.

use super::full;
use super::test_cluster::{TestCluster, WriteFault};
use crate::state::Input;

/// No replica leads: the only one that runs follows a leader that is dead.
fn without_leader() -> TestCluster {
    let mut test_cluster = full();
    test_cluster.lead(0, false);
    test_cluster
}

/// Lets time pass in steps that are short enough for a stand-in.
fn wait(test_cluster: &mut TestCluster, millis: u64) {
    for _ in 0..millis / 50 {
        test_cluster.pass(50);
    }
}

#[test]
fn the_place_of_a_leaving_pod_is_written_after_a_moment() {
    let mut test_cluster = without_leader();
    test_cluster.delete("web-1", 30);
    wait(&mut test_cluster, 400);
    assert_eq!(test_cluster.reservations(), [], "the leader has a moment");
    wait(&mut test_cluster, 1000);
    let places = test_cluster.reservations();
    assert_eq!(places.len(), 1);
    test_cluster.wait(20);
    assert_eq!(test_cluster.reservations(), places, "once, and nothing is extended or released");
}

#[test]
fn so_is_that_of_a_pod_that_is_gone_at_once() {
    let mut test_cluster = without_leader();
    test_cluster.delete("web-1", 0);
    wait(&mut test_cluster, 1500);
    assert_eq!(test_cluster.reservations().len(), 1);
}

#[test]
fn what_the_leader_writes_is_not_written_again() {
    let mut test_cluster = TestCluster::new(&["n1"], 2, 1);
    test_cluster.lead(1, false);
    let web = test_cluster.create_pod(true, 0, None);
    test_cluster.run();
    test_cluster.start_all();
    test_cluster.run();
    test_cluster.delete(&web, 30);
    test_cluster.run();
    let version = test_cluster.nodes["n1"].version;
    wait(&mut test_cluster, 3000);
    assert_eq!((test_cluster.reservations().len(), test_cluster.nodes["n1"].version), (1, version));
}

#[test]
fn nothing_else_is_done_without_the_lease() {
    let mut test_cluster = without_leader();
    test_cluster.delete("web-1", 0);
    wait(&mut test_cluster, 1500);
    let written = test_cluster.reservations();
    assert_eq!(written.len(), 1);
    test_cluster.reconcile();
    test_cluster.keep = None;
    test_cluster.send_workloads();
    test_cluster.run();
    test_cluster.wait(2000);
    assert_eq!(test_cluster.reservations(), written, "neither released, nor when its time is over");
    assert_eq!(test_cluster.places(), Vec::<String>::new(), "nobody is placed");
    assert_eq!(test_cluster.events(), []);
    test_cluster.lead(0, true);
    test_cluster.run();
    test_cluster.wait(30);
    assert_eq!(test_cluster.reservations(), [], "whoever leads does");
}

#[test]
fn a_write_that_fails_is_tried_again() {
    let mut test_cluster = without_leader();
    test_cluster.write_fault = WriteFault::RequestLost;
    test_cluster.delete("web-1", 30);
    wait(&mut test_cluster, 1500);
    test_cluster.write_fault = WriteFault::None;
    wait(&mut test_cluster, 3000);
    assert_eq!(test_cluster.reservations().len(), 1);
}

impl TestCluster {
    fn lead(&mut self, index: usize, is_leading: bool) {
        self.handle(index, Input::Leading(is_leading));
    }
}
