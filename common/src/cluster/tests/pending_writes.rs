//! Pending writes: they count before the node's annotations have them.

use super::{replica, test_cluster, web};
use crate::cluster::{Cluster, Event, ReservationState, WatchEvent};
use crate::model::NodeName;
use crate::testing::{ReservationBuilder, at, node, now, reservation};

const NODE: &str = "n1";

fn states(cluster: &mut Cluster, seconds: i64) -> Vec<ReservationState> {
    let snapshot = cluster.snapshot(at(seconds));
    snapshot.nodes().next().unwrap().entries.iter().map(|entry| entry.state).collect()
}

/// A node with a reservation for a pod that is being deleted and still there. The reservation expires in a minute.
fn leaving() -> (Cluster, ReservationBuilder) {
    leaving_until(60)
}

fn leaving_until(seconds: i64) -> (Cluster, ReservationBuilder) {
    let pod = replica("web-1").terminating().build();
    let kept = reservation(&web()).cpu("1").replaces(&pod).expires(at(seconds));
    let mut cluster = test_cluster(std::slice::from_ref(&kept)).pod(replica("web-1").terminating()).cluster();
    assert_eq!(states(&mut cluster, 0), [ReservationState::Occupied]);
    (cluster, kept)
}

fn vanish(cluster: &mut Cluster) {
    cluster.apply(Event::Pods(WatchEvent::Deleted(replica("web-1").terminating().build())));
}

fn extend(cluster: &mut Cluster, kept: &ReservationBuilder, seconds: i64) {
    let kept = kept.build();
    let request = &kept.record().unwrap().request;
    cluster.extend_locally(&NodeName::from(NODE), &kept.id, request, at(seconds));
}

#[test]
fn what_is_about_to_be_reserved_counts_until_it_would_have_been_seen() {
    let pod = replica("web-1");
    let kept = reservation(&web()).cpu("1").replaces(&pod.build()).expires(at(900)).build();
    let mut cluster = test_cluster(&[]).pod(pod).cluster();
    cluster.advance(now());
    cluster.reserve_locally(&NodeName::from(NODE), kept.clone());
    assert_eq!(states(&mut cluster, 0), [ReservationState::Occupied]);
    assert_eq!(
        cluster.ledger_of(&NODE.into()).unwrap().unwritten().count(),
        0,
        "who asked for it asks again"
    );
    cluster.apply(Event::Pods(WatchEvent::Deleted(replica("web-1").build())));
    assert_eq!(states(&mut cluster, 1), [ReservationState::Held]);
    assert_eq!(cluster.ledger_of(&NODE.into()).unwrap().unwritten().count(), 1);
    cluster.advance(at(100));
    cluster.reserve_locally(&NodeName::from(NODE), kept);
    assert_eq!(states(&mut cluster, 179), [ReservationState::Held]);
    assert_eq!(states(&mut cluster, 180), [], "trying again does not make it last");
}

#[test]
fn what_is_about_to_be_extended_does_not_end_meanwhile() {
    let (mut cluster, kept) = leaving();
    extend(&mut cluster, &kept, 600);
    vanish(&mut cluster);
    assert_eq!(states(&mut cluster, 61), [ReservationState::Held]);
    assert_eq!(states(&mut cluster, 180), [ReservationState::Expired], "nobody wrote it down");
    let (mut cluster, kept) = leaving();
    extend(&mut cluster, &kept, 600);
    cluster.drop_local(&NODE.into(), &kept.build().id);
    assert_eq!(states(&mut cluster, 61), [ReservationState::Expired], "it was refused");
}

#[test]
fn an_extension_is_of_one_reservation_and_over_when_the_node_says_it() {
    let (mut cluster, kept) = leaving();
    extend(&mut cluster, &kept, 600);
    let other = kept.clone().record(|record| record.request = "another".into());
    cluster.apply(Event::Nodes(WatchEvent::Applied(node(NODE).version(2).reserves(other.build()).build())));
    vanish(&mut cluster);
    assert_eq!(states(&mut cluster, 61), [ReservationState::Expired], "made by another request");
    let (mut cluster, kept) = leaving();
    extend(&mut cluster, &kept, 600);
    let shorter = kept.clone().expires(at(170));
    for (version, written) in [(2, kept.clone().expires(at(600))), (3, shorter)] {
        cluster.apply(Event::Nodes(WatchEvent::Applied(
            node(NODE).version(version).reserves(written.build()).build(),
        )));
    }
    vanish(&mut cluster);
    assert_eq!(
        states(&mut cluster, 171),
        [ReservationState::Expired],
        "somebody shortened it after it was seen"
    );
}

#[test]
fn one_room_is_not_kept_twice_while_only_one_of_two_is_written_down() {
    let seated = reservation(&web()).cpu("1").expires(at(60));
    let pod = replica("web-1").stamp(&seated.id()).terminating();
    let mut next = reservation(&web()).seat("b").cpu("1").replaces(&pod.build()).expires(at(600)).build();
    if let crate::model::reservation::Origin::Recorded(record) = &mut next.origin {
        record.replaces.as_mut().unwrap().seat.clone_from(&seated.build().id.seat);
    }
    let mut cluster = test_cluster(std::slice::from_ref(&seated)).pod(pod.clone()).cluster();
    cluster.advance(now());
    cluster.reserve_locally(&NodeName::from(NODE), next);
    assert_eq!(states(&mut cluster, 0), [ReservationState::Taken]);
    cluster.apply(Event::Pods(WatchEvent::Deleted(pod.build())));
    assert_eq!(states(&mut cluster, 1), [ReservationState::Held], "as everybody else sees it");
    assert_eq!(
        states(&mut cluster, 61),
        [ReservationState::Expired, ReservationState::Held],
        "when that is over the other one counts"
    );
}

/// An expired reservation in the annotations may be out of date: it was released, and we have not seen that yet.
#[test]
fn what_is_about_to_be_reserved_anew_counts_although_one_that_is_over_is_there() {
    let (mut cluster, kept) = leaving();
    cluster.advance(at(61));
    let anew = kept.clone().expires(at(900)).build();
    cluster.reserve_locally(&NodeName::from(NODE), anew);
    assert_eq!(states(&mut cluster, 61), [ReservationState::Occupied]);
    vanish(&mut cluster);
    assert_eq!(states(&mut cluster, 62), [ReservationState::Held]);
    cluster.apply(Event::Nodes(WatchEvent::Applied(
        node(NODE).version(2).reserves(kept.expires(at(900)).build()).build(),
    )));
    assert_eq!(states(&mut cluster, 800), [ReservationState::Held], "the node says it by now");
}

/// Found by the simulation. Another process makes the same reservation and releases it before we write; the events of both come
/// after our write.
#[test]
fn what_we_wrote_is_not_gone_with_what_somebody_else_wrote_before() {
    let pod = replica("web-1").terminating();
    let kept = reservation(&web()).cpu("1").replaces(&pod.build()).expires(at(900));
    let mut cluster = test_cluster(&[]).pod(pod).cluster();
    cluster.advance(now());
    cluster.reserve_locally(&NodeName::from(NODE), kept.build());
    let id = kept.build().id;
    cluster.note_written(&NodeName::from(NODE), &id, 9);
    vanish(&mut cluster);
    let theirs = kept.clone().record(|record| record.request = "theirs".into());
    let news = |cluster: &mut Cluster, version, one: Option<&ReservationBuilder>| {
        let node = node(NODE).version(version);
        let node = one.iter().fold(node, |node, one| node.reserves(one.build()));
        cluster.apply(Event::Nodes(WatchEvent::Applied(node.build())));
        states(cluster, 1)
    };
    assert_eq!(news(&mut cluster, 5, Some(&theirs)), [ReservationState::Held], "once");
    assert_eq!(cluster.ledger_of(&NODE.into()).unwrap().unwritten().count(), 0, "it is there");
    assert_eq!(news(&mut cluster, 6, None), [ReservationState::Held], "ours comes later");
    assert_eq!(news(&mut cluster, 9, Some(&kept)), [ReservationState::Held]);
    assert_eq!(news(&mut cluster, 10, None), [], "and is released");
}

/// Found by the simulation. Somebody takes a reservation back and makes it again. Our watch is late, and our extension finds the
/// second one.
#[test]
fn what_we_extended_is_not_gone_with_an_older_version_of_the_node() {
    let extended = |from| {
        let (mut cluster, kept) = leaving_until(from);
        extend(&mut cluster, &kept, 600);
        cluster.note_version(&NodeName::from(NODE), &kept.build().id, 9);
        vanish(&mut cluster);
        (cluster, kept)
    };
    let news = |cluster: &mut Cluster, version, one: Option<ReservationBuilder>| {
        let node = node(NODE).version(version);
        let node = one.iter().fold(node, |node, one| node.reserves(one.build()));
        cluster.apply(Event::Nodes(WatchEvent::Applied(node.build())));
        states(cluster, 1)
    };
    // Also when it would have lasted for longer than a pending write counts.
    for from in [60, 400] {
        let (mut cluster, kept) = extended(from);
        assert_eq!(news(&mut cluster, 5, None), [ReservationState::Held], "taken back");
        assert_eq!(news(&mut cluster, 6, Some(kept.clone())), [ReservationState::Held], "made again");
        assert_eq!(news(&mut cluster, 9, Some(kept.expires(at(600)))), [ReservationState::Held], "extended");
        assert_eq!(news(&mut cluster, 10, None), [], "released");
    }
    let (mut cluster, _) = extended(60);
    assert_eq!(news(&mut cluster, 10, None), [], "released after it was extended");
}
