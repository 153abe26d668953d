//! Pods with `reserve/keep`: when they get their event, and what counts until then.

use super::full;
use super::rules::replica;
use super::test_cluster::{TestCluster, WriteFault};
use std::time::Duration;

#[test]
fn a_pod_that_asks_again_is_not_told_before_what_it_had_is_released_and_made_anew() {
    let mut test_cluster = full();
    test_cluster.update_replica(replica(10_000, 0));
    test_cluster.set_keep("web-1", Some("2m#a1"));
    test_cluster.run();
    assert_eq!(test_cluster.events(), [("Reserved", "web-1")]);
    test_cluster.wait(61);
    test_cluster.update_replica(replica(10_000, 61));
    // The release is decided, and not carried out yet.
    test_cluster.set_keep("web-1", None);
    test_cluster.set_keep("web-1", Some("2m#a2"));
    while test_cluster.events().len() < 2 {
        assert!(test_cluster.run_one(), "it was not told again");
    }
    assert_eq!(test_cluster.reservations().len(), 1, "what it was told is so");
    assert_eq!(answered(&test_cluster), [Some("a1"), Some("a2")], "and whose wish that is");
}

#[test]
fn who_asks_and_takes_it_back_over_and_over_causes_no_writes() {
    let mut test_cluster = full();
    test_cluster.set_keep("web-1", Some("2m"));
    test_cluster.run();
    let first = test_cluster.reservations();
    for _ in 0..10 {
        test_cluster.set_keep("web-1", None);
        test_cluster.run();
        test_cluster.set_keep("web-1", Some("2m"));
        test_cluster.run();
    }
    assert_eq!((first.len(), &test_cluster.reservations()), (1, &first), "it was not made anew");
    test_cluster.set_keep("web-1", None);
    test_cluster.wait(59);
    assert_eq!(test_cluster.reservations().len(), 1);
    test_cluster.wait(2);
    assert_eq!(test_cluster.reservations(), [], "it is more than a minute old");
}

fn answered(test_cluster: &TestCluster) -> Vec<Option<&str>> {
    test_cluster.written_events.iter().map(|report| report.answers.as_deref()).collect()
}

#[test]
fn who_asks_for_what_is_there_already_is_told_too() {
    let mut test_cluster = full();
    test_cluster.update_replica(replica(10_000, 0));
    for keep in ["2m", "2m#a1", "2m#a1", "2m#a2"] {
        test_cluster.set_keep("web-1", Some(keep));
        test_cluster.run();
    }
    assert_eq!(answered(&test_cluster), [None, Some("a1"), Some("a2")]);
    assert_eq!(test_cluster.reservations().len(), 1);
}

#[test]
fn a_pod_is_not_told_of_what_is_gone_by_then() {
    let mut test_cluster = full();
    test_cluster.update_replica(replica(1, 0));
    test_cluster.set_keep("web-1", Some("2m"));
    test_cluster.run();
    assert_eq!(
        (test_cluster.reservations().len(), test_cluster.events()),
        (1, vec![]),
        "a replica has not seen it yet"
    );
    // No write arrives while the annotations are removed, so that they stay away.
    test_cluster.write_fault = WriteFault::RequestLost;
    if let Some(server) = test_cluster.nodes.get_mut("n1") {
        server.annotations.clear();
    }
    test_cluster.send_node("n1");
    test_cluster.update_replica(replica(10_000, 0));
    test_cluster.run();
    assert!(!test_cluster.events().contains(&("Reserved", "web-1")), "{:?}", test_cluster.events());
    test_cluster.write_fault = WriteFault::None;
    test_cluster.wait(9);
    assert_eq!(test_cluster.reservations().len(), 1);
    assert!(test_cluster.events().contains(&("Reserved", "web-1")), "it is made again, and then told");
}

#[test]
fn what_may_be_there_counts_although_it_is_no_longer_asked_for() {
    for (write_fault, is_sent) in
        [(WriteFault::None, false), (WriteFault::None, true), (WriteFault::AnswerLost, true)]
    {
        let mut test_cluster = full();
        test_cluster.keep = None;
        test_cluster.send_workloads();
        test_cluster.are_node_events_lost = true;
        test_cluster.write_fault = write_fault;
        test_cluster.set_keep("web-1", Some("2m"));
        // The write is pending or done, and the daemon has not seen it.
        if is_sent {
            test_cluster.run();
        }
        test_cluster.set_keep("web-1", None);
        test_cluster.delete("web-1", 0);
        test_cluster.vanish("web-1");
        test_cluster.run();
        assert_eq!(test_cluster.places(), Vec::<String>::new(), "{write_fault:?} {is_sent}: the rival waits");
        assert_eq!(test_cluster.reservations().len(), 1);
        test_cluster.are_node_events_lost = false;
        test_cluster.write_fault = WriteFault::None;
        test_cluster.send_node("n1");
        test_cluster.replicas = 0;
        test_cluster.send_workloads();
        test_cluster.wait(60);
        assert_eq!(test_cluster.places(), ["rival-2 n1"], "nobody wants it back");
    }
}

/// By a clock that is a second fast, the Lease of a replica that has not seen the reservation yet ends a second too early.
#[test]
fn a_replica_is_waited_for_a_little_longer_than_its_lease_says() {
    let mut test_cluster = full();
    let mut other = replica(10_000, 0);
    (other.meta.name, other.meta.uid, other.name) = ("reserve-b".into(), "b".into(), "b".into());
    other.duration = Duration::from_secs(600);
    test_cluster.update_replica(replica(1, 0));
    test_cluster.update_replica(other.clone());
    test_cluster.set_keep("web-1", Some("2m"));
    for (seconds, told) in [(15, 0), (1, 0), (1, 1)] {
        test_cluster.wait(seconds);
        // Another replica's Lease changes, so that confirmations are checked.
        (other.meta.resource_version, other.seen_nodes) =
            (other.meta.resource_version + 1, other.seen_nodes + 1);
        test_cluster.update_replica(other.clone());
        test_cluster.run();
        assert_eq!(test_cluster.events().len(), told, "after {} s", test_cluster.seconds);
    }
}

#[test]
fn what_may_be_there_and_nobody_wants_any_more_is_not_written_again() {
    let mut test_cluster = full();
    test_cluster.keep = None;
    test_cluster.send_workloads();
    test_cluster.write_fault = WriteFault::RequestLost;
    test_cluster.set_keep("web-1", Some("2m"));
    test_cluster.run();
    test_cluster.set_keep("web-1", None);
    test_cluster.delete("web-1", 0);
    test_cluster.vanish("web-1");
    test_cluster.write_fault = WriteFault::None;
    test_cluster.wait(60);
    assert_eq!((test_cluster.reservations().len(), test_cluster.places().len()), (0, 0), "it may be there");
    test_cluster.wait(150);
    assert_eq!(
        (test_cluster.reservations().len(), test_cluster.places()),
        (0, vec!["rival-2 n1".to_owned()]),
        "it is not"
    );
}

#[test]
fn a_pod_that_asks_is_told_when_all_replicas_have_seen_it() {
    let mut test_cluster = full();
    test_cluster.update_replica(replica(1, 0));
    test_cluster.set_keep("web-1", Some("2m"));
    test_cluster.run();
    assert_eq!(test_cluster.reservations().len(), 1);
    assert_eq!(test_cluster.events(), [], "a replica has not seen it yet");
    test_cluster.update_replica(replica(10_000, 0));
    test_cluster.run();
    assert_eq!(test_cluster.events(), [("Reserved", "web-1")]);
    test_cluster.wait(600);
    assert_eq!(
        (test_cluster.reservations().len(), test_cluster.events().len()),
        (1, 1),
        "it is kept for as long as the pod asks"
    );
    test_cluster.set_keep("web-1", None);
    test_cluster.run();
    assert_eq!(test_cluster.reservations(), [], "and no longer");
    test_cluster.set_keep("web-1", Some("soon"));
    test_cluster.send_pod("web-1");
    test_cluster.run();
    assert_eq!(test_cluster.events()[1..], [("InvalidKeep", "web-1")], "once");
    test_cluster.update_replica(replica(20_000, 600));
    test_cluster.set_keep("web-1", Some("2m"));
    test_cluster.run();
    assert_eq!(test_cluster.events()[2..], [("Reserved", "web-1")], "it asks again, and is told again");
}
