//! The controller inside the whole state machine: each rule, then all rules in random histories.

mod keep;
mod places;
mod random;
mod rules;
mod stand_in;
mod test_cluster;

use test_cluster::{TestCluster, WriteFault, time};

/// A cluster with one node, full of the one pod that the Deployment wants, and a rival that waits.
fn full() -> TestCluster {
    let mut test_cluster = TestCluster::new(&["n1"], 1, 1);
    test_cluster.reconcile();
    test_cluster.run();
    test_cluster.start_all();
    test_cluster.create_pod(false, 0, None);
    test_cluster.run();
    assert_eq!(test_cluster.places(), ["web-1 n1"]);
    assert_eq!(test_cluster.reservations(), []);
    test_cluster
}

#[test]
fn a_place_is_kept_taken_and_released() {
    let mut test_cluster = full();
    test_cluster.delete("web-1", 30);
    test_cluster.reconcile();
    test_cluster.run();
    let [(_, kept)] = &test_cluster.reservations()[..] else { panic!("{:?}", test_cluster.reservations()) };
    assert_eq!(kept.expires(), Some(time(30 + 600)), "a life after its grace");
    test_cluster.wait(30);
    test_cluster.vanish("web-1");
    test_cluster.run();
    assert_eq!(test_cluster.places(), ["web-3 n1"], "the replacement, not the rival");
    test_cluster.wait(1);
    assert_eq!(test_cluster.reservations().len(), 1, "it does not run yet");
    test_cluster.start_all();
    test_cluster.run();
    assert_eq!(test_cluster.reservations(), []);
    assert_eq!(test_cluster.events(), []);
}

#[test]
fn the_time_is_moved_at_the_very_moment_when_it_is_due() {
    let mut test_cluster = full();
    test_cluster.delete("web-1", 30);
    test_cluster.run();
    // The pod outlives its grace period. Exactly one life is left now: without an extension the node would be checked all the time.
    test_cluster.wait(30);
    let [(_, kept)] = &test_cluster.reservations()[..] else { panic!("{:?}", test_cluster.reservations()) };
    assert!(kept.expires() > Some(time(30 + 600)), "{kept:?}");
}

#[test]
fn what_was_made_and_is_not_seen_yet_is_not_made_again_and_again() {
    let mut test_cluster = full();
    test_cluster.are_node_events_lost = true;
    test_cluster.delete("web-1", 30);
    // `run` must come to an end: each write that only finds the reservation would be followed by the next one.
    test_cluster.run();
    assert_eq!(test_cluster.reservations().len(), 1);
    test_cluster.are_node_events_lost = false;
    test_cluster.send_node("n1");
    test_cluster.run();
    test_cluster.wait(30);
    test_cluster.vanish("web-1");
    test_cluster.reconcile();
    test_cluster.run();
    assert_eq!(test_cluster.places(), ["web-3 n1"]);
}

#[test]
fn a_pod_that_vanishes_at_once_leaves_no_gap() {
    let mut test_cluster = full();
    // The rival is tried in the same step in which the room becomes empty, before the replacement exists.
    test_cluster.wait(20);
    test_cluster.delete("web-1", 0);
    test_cluster.run();
    assert_eq!(test_cluster.places(), [""; 0]);
    assert_eq!(test_cluster.reservations().len(), 1, "written down as soon as it could be");
    test_cluster.reconcile();
    test_cluster.run();
    assert_eq!(test_cluster.places(), ["web-3 n1"]);
    test_cluster.start_all();
    test_cluster.run();
    assert_eq!(test_cluster.reservations(), []);
}

#[test]
fn without_keep_the_place_is_lost() {
    let mut test_cluster = TestCluster::new(&["n1"], 1, 1);
    test_cluster.keep = None;
    test_cluster.send_workloads();
    test_cluster.reconcile();
    test_cluster.run();
    test_cluster.create_pod(false, 0, None);
    test_cluster.run();
    test_cluster.wait(20);
    test_cluster.delete("web-1", 0);
    test_cluster.run();
    assert_eq!(test_cluster.places(), ["rival-2 n1"], "or the other tests would prove nothing");
}

#[test]
fn a_pod_that_does_not_start_has_taken_its_place_after_a_minute() {
    let mut test_cluster = full();
    test_cluster.delete("web-1", 0);
    test_cluster.reconcile();
    test_cluster.run();
    test_cluster.wait(59);
    assert_eq!(test_cluster.reservations().len(), 1);
    test_cluster.wait(2);
    assert_eq!(test_cluster.reservations(), []);
}

#[test]
fn what_is_no_longer_needed_is_released() {
    let mut test_cluster = full();
    test_cluster.delete("web-1", 30);
    test_cluster.run();
    test_cluster.replicas = 0;
    test_cluster.send_workloads();
    test_cluster.run();
    assert_eq!(test_cluster.reservations().len(), 1, "not while the replaced pod is there");
    test_cluster.wait(30);
    test_cluster.vanish("web-1");
    test_cluster.run();
    assert_eq!(test_cluster.reservations(), []);
    test_cluster.wait(15);
    assert_eq!(test_cluster.places(), ["rival-2 n1"]);
}

#[test]
fn a_scale_down_keeps_nothing() {
    let mut test_cluster = full();
    test_cluster.replicas = 0;
    test_cluster.send_workloads();
    test_cluster.reconcile();
    test_cluster.run();
    assert_eq!(test_cluster.reservations(), []);
    test_cluster.vanish("web-1");
    test_cluster.wait(15);
    assert_eq!(test_cluster.places(), ["rival-2 n1"]);
}

#[test]
fn a_replacement_elsewhere_frees_the_place() {
    let mut test_cluster = TestCluster::new(&["n1"], 1, 1);
    test_cluster.reconcile();
    test_cluster.run();
    test_cluster.delete("web-1", 100);
    test_cluster.run();
    assert_eq!(test_cluster.reservations().len(), 1);
    test_cluster.nodes.insert("n2".into(), crate::effects::StoredNode::new(&[]));
    test_cluster.send_node("n2");
    test_cluster.reconcile();
    test_cluster.run();
    assert_eq!(test_cluster.places(), ["web-1 n1", "web-2 n2"], "prefer does not mean wait");
    test_cluster.vanish("web-1");
    test_cluster.run();
    assert_eq!(test_cluster.reservations(), []);
}

#[test]
fn time_that_is_up_is_up_and_a_pod_that_takes_long_gets_more() {
    let mut test_cluster = full();
    test_cluster.delete("web-1", 10);
    test_cluster.run();
    // The pod outlives its grace period by far.
    test_cluster.wait(3000);
    let [(_, kept)] = &test_cluster.reservations()[..] else { panic!("{:?}", test_cluster.reservations()) };
    assert!(kept.expires() >= Some(time(3000 + 590)) && kept.expires() <= Some(time(3000 + 670)));
    test_cluster.vanish("web-1");
    test_cluster.run();
    test_cluster.wait(500);
    assert_eq!(
        (test_cluster.reservations().len(), test_cluster.places().len()),
        (1, 0),
        "nobody made a replacement"
    );
    test_cluster.wait(200);
    assert_eq!(test_cluster.reservations(), []);
    assert_eq!(test_cluster.places(), ["rival-2 n1"]);
}

#[test]
fn a_daemon_that_may_not_write_says_nothing_and_goes_on() {
    let mut test_cluster = full();
    test_cluster.write_fault = WriteFault::Forbidden;
    test_cluster.delete("web-1", 30);
    test_cluster.run();
    assert_eq!(test_cluster.reservations(), []);
    test_cluster.vanish("web-1");
    test_cluster.run();
    test_cluster.wait(220);
    assert_eq!(test_cluster.places(), ["rival-2 n1"]);
}

#[test]
fn what_is_being_written_counts_for_the_limit_of_a_namespace() {
    let mut test_cluster = TestCluster::new(&["n1", "n2"], 1, 2);
    test_cluster.states[0].set_automatic_max(1);
    test_cluster.reconcile();
    test_cluster.run();
    test_cluster.start_all();
    test_cluster.create_pod(false, 0, None);
    test_cluster.run();
    test_cluster.wait(20);
    test_cluster.are_node_events_lost = true;
    test_cluster.delete("web-1", 30);
    test_cluster.delete("web-2", 30);
    test_cluster.run();
    assert_eq!(
        test_cluster.reservations().len(),
        1,
        "the second is one too many, whether or not the first was seen"
    );
    test_cluster.vanish("web-1");
    test_cluster.run();
    assert_eq!(
        test_cluster.places().len(),
        1,
        "nobody is placed where room is about to be kept: {:?}",
        test_cluster.places()
    );
}

#[test]
fn what_could_not_be_written_is_tried_again() {
    for write_fault in [WriteFault::RequestLost, WriteFault::AnswerLost] {
        let mut test_cluster = full();
        test_cluster.write_fault = write_fault;
        test_cluster.delete("web-1", 30);
        test_cluster.run();
        test_cluster.wait(5);
        test_cluster.write_fault = WriteFault::None;
        test_cluster.wait(10);
        assert_eq!(test_cluster.reservations().len(), 1, "{write_fault:?}");
        test_cluster.write_fault = write_fault;
        test_cluster.vanish("web-1");
        test_cluster.reconcile();
        test_cluster.run();
        test_cluster.start_all();
        test_cluster.run();
        test_cluster.write_fault = WriteFault::None;
        test_cluster.wait(60);
        assert_eq!(test_cluster.reservations(), [], "{write_fault:?}");
        assert_eq!(test_cluster.places(), ["web-3 n1"]);
    }
}
