//! Pods that wish their places kept by themselves: when they are told, and what counts until then.

use super::full;
use super::rules::replica;
use super::town::{Luck, Town};
use std::time::Duration;

#[test]
fn a_pod_that_asks_again_is_not_told_before_what_it_had_is_released_and_made_anew() {
    let mut town = full();
    town.seen(replica(10_000, 0));
    town.set_keep("web-1", Some("2m#a1"));
    town.run();
    assert_eq!(town.told(), [("Reserved", "web-1")]);
    // The release is decided on, and not carried out yet.
    town.set_keep("web-1", None);
    town.set_keep("web-1", Some("2m#a2"));
    while town.told().len() < 2 {
        assert!(town.run_one(), "it was not told again");
    }
    assert_eq!(town.reservations().len(), 1, "what it was told is so");
    assert_eq!(answered(&town), [Some("a1"), Some("a2")], "and whose wish that is");
}

fn answered(town: &Town) -> Vec<Option<&str>> {
    town.reports.iter().map(|report| report.answers.as_deref()).collect()
}

#[test]
fn whoever_wishes_what_is_there_already_is_told_too() {
    let mut town = full();
    town.seen(replica(10_000, 0));
    for wish in ["2m", "2m#a1", "2m#a1", "2m#a2"] {
        town.set_keep("web-1", Some(wish));
        town.run();
    }
    assert_eq!(answered(&town), [None, Some("a1"), Some("a2")]);
    assert_eq!(town.reservations().len(), 1);
}

#[test]
fn a_pod_is_not_told_of_what_is_gone_by_then() {
    let mut town = full();
    town.seen(replica(1, 0));
    town.set_keep("web-1", Some("2m"));
    town.run();
    assert_eq!((town.reservations().len(), town.told()), (1, vec![]), "a replica has not seen it yet");
    // While somebody removes it nothing is written any more, so that it stays away.
    town.luck = Luck::Lost;
    if let Some(server) = town.nodes.get_mut("n1") {
        server.annotations.clear();
    }
    town.tell_node("n1");
    town.seen(replica(10_000, 0));
    town.run();
    assert!(!town.told().contains(&("Reserved", "web-1")), "{:?}", town.told());
    town.luck = Luck::Good;
    town.wait(9);
    assert_eq!(town.reservations().len(), 1);
    assert!(town.told().contains(&("Reserved", "web-1")), "it is made again, and then told");
}

#[test]
fn what_may_be_there_counts_although_it_is_no_longer_wished() {
    for (luck, is_sent) in [(Luck::Good, false), (Luck::Good, true), (Luck::Silent, true)] {
        let mut town = full();
        town.keep = None;
        town.tell_workloads();
        town.are_nodes_unheard = true;
        town.luck = luck;
        town.set_keep("web-1", Some("2m"));
        // It is on its way, or there; and nobody has seen it.
        if is_sent {
            town.run();
        }
        town.set_keep("web-1", None);
        town.delete("web-1", 0);
        town.vanish("web-1");
        town.run();
        assert_eq!(town.places(), Vec::<String>::new(), "{luck:?} {is_sent}: the rival waits");
        assert_eq!(town.reservations().len(), 1);
        town.are_nodes_unheard = false;
        town.luck = Luck::Good;
        town.tell_node("n1");
        town.wanted = 0;
        town.tell_workloads();
        town.wait(60);
        assert_eq!(town.places(), ["rival-2 n1"], "nobody wants it back");
    }
}

/// By a clock that is a second fast, the Lease of a replica that has yet to see it is over a second too early.
#[test]
fn a_replica_is_waited_for_a_little_longer_than_its_lease_says() {
    let mut town = full();
    let mut other = replica(10_000, 0);
    (other.meta.name, other.meta.uid, other.name) = ("reserve-b".into(), "b".into(), "b".into());
    other.duration = Duration::from_secs(600);
    town.seen(replica(1, 0));
    town.seen(other.clone());
    town.set_keep("web-1", Some("2m"));
    for (seconds, told) in [(15, 0), (1, 0), (1, 1)] {
        town.wait(seconds);
        // Somebody says something, and so everything is looked at.
        (other.meta.resource_version, other.seen_nodes) =
            (other.meta.resource_version + 1, other.seen_nodes + 1);
        town.seen(other.clone());
        town.run();
        assert_eq!(town.told().len(), told, "after {} s", town.seconds);
    }
}

#[test]
fn what_may_be_there_and_nobody_wants_any_more_is_not_written_again() {
    let mut town = full();
    town.keep = None;
    town.tell_workloads();
    town.luck = Luck::Lost;
    town.set_keep("web-1", Some("2m"));
    town.run();
    town.set_keep("web-1", None);
    town.delete("web-1", 0);
    town.vanish("web-1");
    town.luck = Luck::Good;
    town.wait(60);
    assert_eq!((town.reservations().len(), town.places().len()), (0, 0), "it may be there");
    town.wait(150);
    assert_eq!((town.reservations().len(), town.places()), (0, vec!["rival-2 n1".to_owned()]), "it is not");
}

#[test]
fn a_pod_that_asks_is_told_when_all_replicas_have_seen_it() {
    let mut town = full();
    town.seen(replica(1, 0));
    town.set_keep("web-1", Some("2m"));
    town.run();
    assert_eq!(town.reservations().len(), 1);
    assert_eq!(town.told(), [], "a replica has not seen it yet");
    town.seen(replica(10_000, 0));
    town.run();
    assert_eq!(town.told(), [("Reserved", "web-1")]);
    town.wait(600);
    assert_eq!(
        (town.reservations().len(), town.told().len()),
        (1, 1),
        "it is kept for as long as the pod asks"
    );
    town.set_keep("web-1", None);
    town.run();
    assert_eq!(town.reservations(), [], "and no longer");
    town.set_keep("web-1", Some("soon"));
    town.tell("web-1");
    town.run();
    assert_eq!(town.told()[1..], [("InvalidKeep", "web-1")], "once");
    town.seen(replica(20_000, 600));
    town.set_keep("web-1", Some("2m"));
    town.run();
    assert_eq!(town.told()[2..], [("Reserved", "web-1")], "it asks again, and is told again");
}
