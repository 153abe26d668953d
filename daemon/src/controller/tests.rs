//! The controller inside the whole state machine: each rule, then all of them in histories that nobody wrote down.

mod histories;
mod places;
mod rules;
mod stand_in;
mod test_cluster;
mod wishes;

use test_cluster::{Luck, TestCluster, time};

/// A cluster with one node, full of the one pod that the Deployment wants, and a rival that waits.
fn full() -> TestCluster {
    let mut test_cluster = TestCluster::new(&["n1"], 1, 1);
    test_cluster.reconcile();
    test_cluster.run();
    test_cluster.start_all();
    test_cluster.comes(false, 0, None);
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
    assert_eq!(test_cluster.told(), []);
}

#[test]
fn the_time_is_moved_at_the_very_moment_when_it_is_due() {
    let mut test_cluster = full();
    test_cluster.delete("web-1", 30);
    test_cluster.run();
    // It outlives its grace. Now exactly one life is left: that is when to move on, or there would be a look each instant.
    test_cluster.wait(30);
    let [(_, kept)] = &test_cluster.reservations()[..] else { panic!("{:?}", test_cluster.reservations()) };
    assert!(kept.expires() > Some(time(30 + 600)), "{kept:?}");
}

#[test]
fn what_was_made_and_is_not_seen_yet_is_not_made_again_and_again() {
    let mut test_cluster = full();
    test_cluster.are_nodes_unheard = true;
    test_cluster.delete("web-1", 30);
    // That it comes to rest is the point: each write that only finds what is there would be followed by the next.
    test_cluster.run();
    assert_eq!(test_cluster.reservations().len(), 1);
    test_cluster.are_nodes_unheard = false;
    test_cluster.tell_node("n1");
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
    // The rival is decided on in the very step in which the room is empty, before the replacement is even made.
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
fn without_the_wish_the_place_is_lost() {
    let mut test_cluster = TestCluster::new(&["n1"], 1, 1);
    test_cluster.keep = None;
    test_cluster.tell_workloads();
    test_cluster.reconcile();
    test_cluster.run();
    test_cluster.comes(false, 0, None);
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
    test_cluster.wanted = 0;
    test_cluster.tell_workloads();
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
    test_cluster.wanted = 0;
    test_cluster.tell_workloads();
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
    test_cluster.nodes.insert("n2".into(), crate::effects::Server::new(&[]));
    test_cluster.tell_node("n2");
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
    // It outlives its grace by far.
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
    test_cluster.luck = Luck::Forbidden;
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
    test_cluster.comes(false, 0, None);
    test_cluster.run();
    test_cluster.wait(20);
    test_cluster.are_nodes_unheard = true;
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
    for luck in [Luck::Lost, Luck::Silent] {
        let mut test_cluster = full();
        test_cluster.luck = luck;
        test_cluster.delete("web-1", 30);
        test_cluster.run();
        test_cluster.wait(5);
        test_cluster.luck = Luck::Good;
        test_cluster.wait(10);
        assert_eq!(test_cluster.reservations().len(), 1, "{luck:?}");
        test_cluster.luck = luck;
        test_cluster.vanish("web-1");
        test_cluster.reconcile();
        test_cluster.run();
        test_cluster.start_all();
        test_cluster.run();
        test_cluster.luck = Luck::Good;
        test_cluster.wait(60);
        assert_eq!(test_cluster.reservations(), [], "{luck:?}");
        assert_eq!(test_cluster.places(), ["web-3 n1"]);
    }
}
