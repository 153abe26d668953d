//! A volume that was chosen for one pod is not chosen for another, until the API server says otherwise.

use super::{NONE, by_hand, late, plugin, test_cluster};
use crate::cluster::{Assumption, Cluster, Event, WatchEvent};
use crate::framework::{Filter, Reserve, Verdict};
use crate::model::catalog_object::CatalogKind;
use crate::model::ids::{PodKey, Uid};
use crate::model::{Claims, Pod};
use crate::testing::{CatalogObjectBuilder, claim, now, pod, storage_class, volume};
use serde_json::json;

fn waiting(name: &str, claim: &str) -> Pod {
    pod(name).volume(json!({ "name": "v", "persistentVolumeClaim": { "claimName": claim } })).build()
}

fn id(name: &str) -> (PodKey, Uid) {
    let pod = pod(name).build();
    (pod.key, pod.uid)
}

fn free(name: &str) -> CatalogObjectBuilder {
    volume(name).class("late")
}

/// Assumes the pod on `n1`, with the volumes that it would get there.
fn place(cluster: &mut Cluster, pod: &Pod) {
    cluster.apply(Event::Pods(WatchEvent::Applied(pod.clone())));
    let snapshot = cluster.snapshot(now());
    let ledger = snapshot.nodes().next().unwrap();
    let chosen = plugin().reserve(&snapshot.context(pod), ledger, &snapshot).unwrap();
    assert_eq!(chosen.len(), 1);
    let (uid, node, claims) = (pod.uid.clone(), "n1".into(), Claims(chosen));
    cluster.assume(&pod.key, Assumption { uid, node, claims, since: now() });
}

/// The nodes that fit the pod.
fn fitting_nodes(cluster: &mut Cluster, pod: &Pod) -> Vec<String> {
    let snapshot = cluster.snapshot(now());
    let (context, plugin) = (snapshot.context(pod), plugin());
    let ask = plugin.prepare(&context, &snapshot).unwrap();
    let fits = |id| match ask(id) {
        Verdict::Fits => true,
        Verdict::Rejects(found) => {
            assert_eq!(found[0].reason.to_string(), NONE);
            false
        }
        other => panic!("{other:?}"),
    };
    snapshot.nodes().filter(|ledger| fits(ledger.id)).map(|ledger| ledger.node.name.to_string()).collect()
}

#[test]
fn a_chosen_volume_is_not_chosen_again() {
    let test_cluster = test_cluster().with(by_hand()).with(late("one")).with(late("two")).with(free("pv"));
    let mut cluster = test_cluster.cluster();
    let (first, second) = (waiting("first", "one"), waiting("second", "two"));
    assert_eq!(fitting_nodes(&mut cluster, &second), ["n1", "n2"]);
    place(&mut cluster, &first);
    assert_eq!(fitting_nodes(&mut cluster, &second), [""; 0]);
    assert_eq!(
        fitting_nodes(&mut cluster, &waiting("third", "one")),
        ["n1", "n2"],
        "the claim itself has it"
    );
    let (key, uid) = id("first");
    cluster.forget(&key, &uid);
    assert_eq!(fitting_nodes(&mut cluster, &second), ["n1", "n2"]);
}

#[test]
fn a_choice_outlives_the_binding_until_the_volume_is_news() {
    let test_cluster = test_cluster().with(by_hand()).with(late("one")).with(late("two")).with(free("pv"));
    let mut cluster = test_cluster.cluster();
    let second = waiting("second", "two");
    place(&mut cluster, &waiting("first", "one"));
    let bound = pod("first").version(2).on("n1").build();
    cluster.apply(Event::Pods(WatchEvent::Applied(bound)));
    assert!(!cluster.is_assumed(&id("first").0));
    assert_eq!(fitting_nodes(&mut cluster, &second), [""; 0], "the volume has not said so yet");
    let news = |volume: CatalogObjectBuilder| {
        Event::CatalogObjects(CatalogKind::PersistentVolume, WatchEvent::Applied(volume.build()))
    };
    cluster.apply(news(free("pv").version(2)));
    assert_eq!(fitting_nodes(&mut cluster, &second), ["n1", "n2"], "somebody took it back");
    cluster.apply(news(free("pv").version(3).claimed_by("one")));
    assert_eq!(fitting_nodes(&mut cluster, &second), [""; 0]);
}

#[test]
fn who_is_bound_elsewhere_gives_back_what_was_chosen() {
    let test_cluster = test_cluster().with(by_hand()).with(late("one")).with(late("two")).with(free("pv"));
    let mut cluster = test_cluster.cluster();
    place(&mut cluster, &waiting("first", "one"));
    cluster.apply(Event::Pods(WatchEvent::Applied(pod("first").version(2).on("n2").build())));
    assert_eq!(fitting_nodes(&mut cluster, &waiting("second", "two")), ["n1", "n2"]);
}

#[test]
fn a_volume_that_is_to_be_made_is_made_for_one_node() {
    let test_cluster = test_cluster().with(storage_class("late")).with(late("data"));
    let mut cluster = test_cluster.cluster();
    let second = waiting("second", "data");
    assert_eq!(fitting_nodes(&mut cluster, &second), ["n1", "n2"]);
    place(&mut cluster, &waiting("first", "data"));
    assert_eq!(fitting_nodes(&mut cluster, &second), ["n1"]);
    let news = claim("data").class("late").version(2).build();
    cluster.apply(Event::CatalogObjects(CatalogKind::PersistentVolumeClaim, WatchEvent::Applied(news)));
    assert_eq!(fitting_nodes(&mut cluster, &second), ["n1", "n2"], "the driver gave up");
}

#[test]
fn nothing_is_chosen_for_whom_nothing_was_decided() {
    let test_cluster = test_cluster().with(by_hand()).with(late("one")).with(late("two")).with(free("pv"));
    let mut cluster = test_cluster.cluster();
    let (key, uid) = id("first");
    let first = waiting("first", "one");
    let snapshot = cluster.snapshot(now());
    let ledger = snapshot.nodes().next().unwrap();
    let chosen = plugin().reserve(&snapshot.context(&first), ledger, &snapshot).unwrap();
    let (node, claims) = ("n1".into(), Claims(chosen));
    cluster.assume(&key, Assumption { uid, node, claims, since: now() });
    assert_eq!(fitting_nodes(&mut cluster, &waiting("second", "two")), ["n1", "n2"]);
}
