//! Owners of kinds that are not watched: which pods belong to them once they were read.

use crate::cluster::{Cluster, Event, NotReservedReason, OwnerAnswer, WatchEvent};
use crate::model::owner::{ForeignClaim, ForeignKind, Workload};
use crate::model::{Keep, OwnerKind, Pod};
use crate::testing::{PodBuilder, cluster_builder, node, now, plain, pod, replica_set, uid, workload};
use serde_json::json;
use std::sync::Arc;

fn foreign(api_version: &str, kind: &str, name: &str) -> Workload {
    let foreign = ForeignKind { api_version: api_version.into(), kind: kind.into() };
    Workload { foreign: Some(Arc::new(foreign)), ..workload(OwnerKind::Foreign, name) }
}

fn clone_set() -> Workload {
    foreign("apps.kruise.io/v1alpha1", "CloneSet", "web")
}

fn replica(name: &str) -> PodBuilder {
    pod(name)
        .cpu("1")
        .owned_by(&clone_set())
        .on("n1")
        .with("/metadata/annotations/reserve~1keep", json!("5m"))
}

fn claim(of: &Workload) -> ForeignClaim {
    ForeignClaim {
        uid: of.uid.clone(),
        namespace: of.namespace.clone(),
        kind: (**of.foreign.as_ref().unwrap()).clone(),
        name: of.name.clone(),
    }
}

fn answer(cluster: &mut Cluster, of: &Workload, answer: OwnerAnswer) {
    cluster.note_owner_being_read(&claim(of));
    cluster.apply(Event::OwnerRead(Box::new(claim(of)), answer));
}

fn found(cluster: &mut Cluster, of: &Workload) {
    answer(cluster, of, OwnerAnswer::Found(Box::new(of.clone())));
}

#[test]
fn a_pod_belongs_to_its_owner_once_that_was_read() {
    let old = replica("web-1");
    let mut cluster = cluster_builder().node(node("n1")).pod(old.clone()).cluster();
    let old = old.build();
    assert_eq!(cluster.owner_to_read(&old), Some(claim(&clone_set())));
    assert!(!cluster.is_owner_missing(&old), "nobody reads it");
    cluster.note_owner_being_read(&claim(&clone_set()));
    assert_eq!(cluster.owner_to_read(&old), None, "it is being read");
    assert!(cluster.is_owner_missing(&old));
    assert_eq!(cluster.automatic_reservation(&old, now()), Err(NotReservedReason::NoOwner));
    found(&mut cluster, &clone_set());
    assert!(!cluster.is_owner_missing(&old));
    let kept = cluster.automatic_reservation(&old, now()).unwrap();
    let owner = kept.record().unwrap().owner.clone();
    assert_eq!((&*owner.kind, &owner.uid), ("CloneSet.v1alpha1.apps.kruise.io", &clone_set().uid));
    assert_eq!(cluster.missing_replicas(&owner), None, "how many it wants cannot be told");
    let next = pod("web-2").owned_by(&clone_set()).build();
    assert!(cluster.context(&next).may_use(&kept));
    assert!(cluster.context(&next).may_use(&plain(&clone_set().uid).build()), "the plain form, too");
    let liar = pod("liar").owned_by(&Workload { name: "other".into(), ..clone_set() }).build();
    assert!(!cluster.context(&liar).may_use(&kept));
    assert!(cluster.owner_to_read(&liar).is_some(), "that is another claim");
    let abroad = pod("abroad").namespace("other").owned_by(&clone_set()).build();
    assert!(!cluster.context(&abroad).may_use(&kept));
}

#[test]
fn an_object_of_another_uid_is_not_the_owner() {
    let mut cluster = cluster_builder().node(node("n1")).pod(replica("web-1")).cluster();
    let again = Workload { uid: uid("again"), ..clone_set() };
    answer(&mut cluster, &clone_set(), OwnerAnswer::Found(Box::new(again)));
    let old = replica("web-1").build();
    assert!(cluster.context(&old).chain().is_empty());
    assert!(cluster.is_owner_gone(&clone_set().owner()), "the claimed one is not there");
    assert_eq!(cluster.automatic_reservation(&old, now()), Err(NotReservedReason::NoOwner));
}

#[test]
fn an_owner_that_is_gone_or_leaves_wants_no_pods() {
    let mut cluster = cluster_builder().node(node("n1")).pod(replica("web-1")).cluster();
    found(&mut cluster, &clone_set());
    answer(&mut cluster, &clone_set(), OwnerAnswer::Unknown);
    assert_eq!(cluster.context(&replica("web-1").build()).chain().len(), 1, "no answer says nothing");
    found(&mut cluster, &Workload { is_deleting: true, resource_version: 2, ..clone_set() });
    assert_eq!(cluster.missing_replicas(&clone_set().owner()), Some(0));
    answer(&mut cluster, &clone_set(), OwnerAnswer::Gone);
    assert_eq!(cluster.missing_replicas(&clone_set().owner()), Some(0));
    assert!(cluster.context(&replica("web-1").build()).chain().is_empty());
}

#[test]
fn what_is_said_of_an_owner_that_cannot_be_read() {
    let mut cluster = cluster_builder().node(node("n1")).pod(replica("web-1")).cluster();
    answer(&mut cluster, &clone_set(), OwnerAnswer::Refused("because".into()));
    let old = replica("web-1").build();
    assert!(!cluster.is_owner_missing(&old), "nothing more will come");
    let (owner, why) = cluster.unreadable_owner(&old).unwrap();
    assert_eq!((owner, &**why), (claim(&clone_set()), "because"));
    let unwished = pod("web-3").owned_by(&clone_set()).on("n1").build();
    assert_eq!(cluster.unreadable_owner(&unwished), None, "nobody wishes anything");
    assert_eq!(cluster.missing_replicas(&clone_set().owner()), None);
}

#[test]
fn the_owners_above_are_read_too() {
    let kafka = foreign("kafka.strimzi.io/v1", "Kafka", "main");
    let set = Workload { keep: None, ..foreign("core.strimzi.io/v1", "StrimziPodSet", "main").of(&kafka) };
    let broker = pod("main-0").owned_by(&set).on("n1").build();
    let mut cluster = cluster_builder().node(node("n1")).pod(pod("main-0").owned_by(&set).on("n1")).cluster();
    found(&mut cluster, &set);
    assert_eq!(cluster.owner_above_to_read(&set), Some(claim(&kafka)));
    assert_eq!(cluster.owner_to_read(&broker), Some(claim(&kafka)));
    assert_eq!(cluster.reservation_life(&broker), None);
    found(&mut cluster, &Workload { keep: Keep::read("true"), ..kafka.clone() });
    assert_eq!(cluster.context(&broker).top(), cluster.owners().foreign(&claim(&kafka)));
    assert!(cluster.reservation_life(&broker).is_some(), "what it says counts for its pods");
}

#[test]
fn a_followed_owner_below_one_that_is_not_read_is_enough() {
    let rollout = foreign("argoproj.io/v1alpha1", "Rollout", "web");
    let set = replica_set("web-1").of(&rollout);
    let old = pod("web-1-a").owned_by(&set).on("n1");
    let mut cluster = cluster_builder().workload(&set).node(node("n1")).pod(old.clone()).cluster();
    let old = old.build();
    cluster.note_owner_being_read(&claim(&rollout));
    assert!(!cluster.is_owner_missing(&old));
    assert_eq!(cluster.owner_of(&old).unwrap().uid, set.uid);
    found(&mut cluster, &rollout);
    assert_eq!(cluster.owner_of(&old).unwrap().uid, rollout.uid, "the highest that was read");
}

#[test]
fn a_claim_that_makes_no_address_is_not_read() {
    let cluster = cluster_builder().cluster();
    let names = |api_version: &str, kind: &str, name: &str| -> Pod {
        let reference = json!([{ "apiVersion": api_version, "kind": kind, "name": name,
                                 "uid": uid("x").to_string(), "controller": true }]);
        pod("p").with("/metadata/ownerReferences", reference).build()
    };
    assert!(cluster.owner_to_read(&names("example.com/v1", "CloneSet", "web")).is_some());
    for (api_version, kind, name) in [
        ("example.com/v1", "CloneSet", "../../../../api/v1/secrets/x"),
        ("example.com/v1", "CloneSet", ".."),
        ("example.com/v1", "CloneSet", "web?watch=true"),
        ("example.com/v1/x", "CloneSet", "web"),
        ("../v1", "CloneSet", "web"),
        ("example.com/..", "CloneSet", "web"),
        ("example.com/v1", "Clone/Set", "web"),
        ("v1", "Secret", "web"),
        ("apps/v1", "Secret", "web"),
    ] {
        assert_eq!(
            cluster.owner_to_read(&names(api_version, kind, name)),
            None,
            "{api_version} {kind} {name}"
        );
    }
}

#[test]
fn a_namespace_has_no_more_than_so_many() {
    let mut cluster = cluster_builder().cluster();
    let owner = |number: usize| foreign("example.com/v1", "Set", &format!("s{number}"));
    for number in 0..200 {
        let claimed = cluster.owner_to_read(&pod("p").owned_by(&owner(number)).build()).unwrap();
        cluster.note_owner_being_read(&claimed);
    }
    let more = pod("p").owned_by(&owner(200));
    assert_eq!(cluster.owner_to_read(&more.build()), None);
    assert!(cluster.owner_to_read(&more.clone().namespace("other").build()).is_some());
    cluster.forget_owner(&claim(&owner(7)));
    assert!(cluster.owner_to_read(&more.build()).is_some());
}

#[test]
fn what_nothing_names_can_be_forgotten() {
    let old = replica("web-1").build();
    let mut cluster = cluster_builder().node(node("n1")).pod(replica("web-1")).cluster();
    found(&mut cluster, &clone_set());
    assert!(cluster.is_named(&clone_set().uid));
    cluster.apply(Event::Pods(WatchEvent::Deleted(old)));
    assert!(!cluster.is_named(&clone_set().uid));
    cluster.forget_owner(&claim(&clone_set()));
    assert_eq!(cluster.foreign_claims().count(), 0);
    assert!(cluster.owners().foreign(&claim(&clone_set())).is_none());
}
