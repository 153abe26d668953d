//! Pods that wish their places kept by themselves: when they are told, and what counts until then.

use super::full;
use super::rules::replica;
use super::test_cluster::{Luck, TestCluster};
use std::time::Duration;

#[test]
fn a_pod_that_asks_again_is_not_told_before_what_it_had_is_released_and_made_anew() {
    let mut test_cluster = full();
    test_cluster.seen(replica(10_000, 0));
    test_cluster.set_keep("web-1", Some("2m#a1"));
    test_cluster.run();
    assert_eq!(test_cluster.told(), [("Reserved", "web-1")]);
    // The release is decided on, and not carried out yet.
    test_cluster.set_keep("web-1", None);
    test_cluster.set_keep("web-1", Some("2m#a2"));
    while test_cluster.told().len() < 2 {
        assert!(test_cluster.run_one(), "it was not told again");
    }
    assert_eq!(test_cluster.reservations().len(), 1, "what it was told is so");
    assert_eq!(answered(&test_cluster), [Some("a1"), Some("a2")], "and whose wish that is");
}

fn answered(test_cluster: &TestCluster) -> Vec<Option<&str>> {
    test_cluster.reports.iter().map(|report| report.answers.as_deref()).collect()
}

#[test]
fn whoever_wishes_what_is_there_already_is_told_too() {
    let mut test_cluster = full();
    test_cluster.seen(replica(10_000, 0));
    for wish in ["2m", "2m#a1", "2m#a1", "2m#a2"] {
        test_cluster.set_keep("web-1", Some(wish));
        test_cluster.run();
    }
    assert_eq!(answered(&test_cluster), [None, Some("a1"), Some("a2")]);
    assert_eq!(test_cluster.reservations().len(), 1);
}

#[test]
fn a_pod_is_not_told_of_what_is_gone_by_then() {
    let mut test_cluster = full();
    test_cluster.seen(replica(1, 0));
    test_cluster.set_keep("web-1", Some("2m"));
    test_cluster.run();
    assert_eq!(
        (test_cluster.reservations().len(), test_cluster.told()),
        (1, vec![]),
        "a replica has not seen it yet"
    );
    // While somebody removes it nothing is written any more, so that it stays away.
    test_cluster.luck = Luck::Lost;
    if let Some(server) = test_cluster.nodes.get_mut("n1") {
        server.annotations.clear();
    }
    test_cluster.tell_node("n1");
    test_cluster.seen(replica(10_000, 0));
    test_cluster.run();
    assert!(!test_cluster.told().contains(&("Reserved", "web-1")), "{:?}", test_cluster.told());
    test_cluster.luck = Luck::Good;
    test_cluster.wait(9);
    assert_eq!(test_cluster.reservations().len(), 1);
    assert!(test_cluster.told().contains(&("Reserved", "web-1")), "it is made again, and then told");
}

#[test]
fn what_may_be_there_counts_although_it_is_no_longer_wished() {
    for (luck, is_sent) in [(Luck::Good, false), (Luck::Good, true), (Luck::Silent, true)] {
        let mut test_cluster = full();
        test_cluster.keep = None;
        test_cluster.tell_workloads();
        test_cluster.are_nodes_unheard = true;
        test_cluster.luck = luck;
        test_cluster.set_keep("web-1", Some("2m"));
        // It is on its way, or there; and nobody has seen it.
        if is_sent {
            test_cluster.run();
        }
        test_cluster.set_keep("web-1", None);
        test_cluster.delete("web-1", 0);
        test_cluster.vanish("web-1");
        test_cluster.run();
        assert_eq!(test_cluster.places(), Vec::<String>::new(), "{luck:?} {is_sent}: the rival waits");
        assert_eq!(test_cluster.reservations().len(), 1);
        test_cluster.are_nodes_unheard = false;
        test_cluster.luck = Luck::Good;
        test_cluster.tell_node("n1");
        test_cluster.wanted = 0;
        test_cluster.tell_workloads();
        test_cluster.wait(60);
        assert_eq!(test_cluster.places(), ["rival-2 n1"], "nobody wants it back");
    }
}

/// By a clock that is a second fast, the Lease of a replica that has yet to see it is over a second too early.
#[test]
fn a_replica_is_waited_for_a_little_longer_than_its_lease_says() {
    let mut test_cluster = full();
    let mut other = replica(10_000, 0);
    (other.meta.name, other.meta.uid, other.name) = ("reserve-b".into(), "b".into(), "b".into());
    other.duration = Duration::from_secs(600);
    test_cluster.seen(replica(1, 0));
    test_cluster.seen(other.clone());
    test_cluster.set_keep("web-1", Some("2m"));
    for (seconds, told) in [(15, 0), (1, 0), (1, 1)] {
        test_cluster.wait(seconds);
        // Somebody says something, and so everything is looked at.
        (other.meta.resource_version, other.seen_nodes) =
            (other.meta.resource_version + 1, other.seen_nodes + 1);
        test_cluster.seen(other.clone());
        test_cluster.run();
        assert_eq!(test_cluster.told().len(), told, "after {} s", test_cluster.seconds);
    }
}

#[test]
fn what_may_be_there_and_nobody_wants_any_more_is_not_written_again() {
    let mut test_cluster = full();
    test_cluster.keep = None;
    test_cluster.tell_workloads();
    test_cluster.luck = Luck::Lost;
    test_cluster.set_keep("web-1", Some("2m"));
    test_cluster.run();
    test_cluster.set_keep("web-1", None);
    test_cluster.delete("web-1", 0);
    test_cluster.vanish("web-1");
    test_cluster.luck = Luck::Good;
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
    test_cluster.seen(replica(1, 0));
    test_cluster.set_keep("web-1", Some("2m"));
    test_cluster.run();
    assert_eq!(test_cluster.reservations().len(), 1);
    assert_eq!(test_cluster.told(), [], "a replica has not seen it yet");
    test_cluster.seen(replica(10_000, 0));
    test_cluster.run();
    assert_eq!(test_cluster.told(), [("Reserved", "web-1")]);
    test_cluster.wait(600);
    assert_eq!(
        (test_cluster.reservations().len(), test_cluster.told().len()),
        (1, 1),
        "it is kept for as long as the pod asks"
    );
    test_cluster.set_keep("web-1", None);
    test_cluster.run();
    assert_eq!(test_cluster.reservations(), [], "and no longer");
    test_cluster.set_keep("web-1", Some("soon"));
    test_cluster.tell("web-1");
    test_cluster.run();
    assert_eq!(test_cluster.told()[1..], [("InvalidKeep", "web-1")], "once");
    test_cluster.seen(replica(20_000, 600));
    test_cluster.set_keep("web-1", Some("2m"));
    test_cluster.run();
    assert_eq!(test_cluster.told()[2..], [("Reserved", "web-1")], "it asks again, and is told again");
}
