//! Keeping the room of a pod: requests and answers in order.

use super::{KeptRoom, exchange_patch, has_keep_annotation, is_needed, kept_room, reserve_patch};
use crate::flow::recreate::{KeepMethod, StopReason};
use common::api::reservation::encode;
use common::api::reservation::patch::ObservedNode;
use common::cluster::{self, Cluster, Event};
use common::model::owner::Owner;
use common::model::reservation::{Origin, Placement, Record, ReplacedPod, Reservation, ReservationId, Seat};
use common::model::{NodeName, Resources, Uid};
use std::collections::BTreeMap;

const PLANNED: &str = "2026-11-16T08:00:00Z";
const LATE: &str = "2026-11-16T08:20:00Z";
const OWNER: &str = "11111111-0000-4000-8000-000000000001";

fn reservation(request: &str, expires: &str) -> Reservation {
    let mut amount = Resources::default();
    amount.cpu = 1000;
    amount.pods = 1;
    let uid = Uid::from(OWNER);
    let owner = Owner {
        kind: "Deployment".into(),
        namespace: "default".into(),
        name: "web".into(),
        uid: uid.clone(),
    };
    let record = Record {
        owner,
        replaces: Some(ReplacedPod { name: "web-1".into(), uid: "old".into(), seat: None }),
        priority: 0,
        created: PLANNED.parse().unwrap(),
        expires: expires.parse().unwrap(),
        life: None,
        request: request.into(),
        by: "admin".into(),
        reason: "kubectl reserve pod".into(),
        placement: Placement::Wait,
        unknown: None,
    };
    let id = ReservationId { owner: uid, seat: Seat::parse("7f3a0c") };
    Reservation { id, amount, ports: Box::default(), origin: Origin::Recorded(Box::new(record)) }
}

fn planned(there: &[(String, String)], wanted: &Reservation) -> Result<(bool, String), StopReason> {
    let annotations: BTreeMap<String, String> = there.iter().cloned().collect();
    let seen = ObservedNode { uid: "n", version: "1", annotations: &annotations };
    reserve_patch(&seen, "n", wanted, PLANNED.parse().unwrap())
        .map(|(patch, end)| (patch.is_some(), end.to_string()))
}

#[test]
fn what_is_there_for_the_same_pod_is_taken_over_and_never_shortened() {
    let (late, soon) = ("2026-11-16T08:20:00Z", "2026-11-16T08:10:00Z");
    let ours = reservation("ours", soon);
    assert_eq!(planned(&[], &ours), Ok((true, soon.into())));
    let theirs = encode(&reservation("theirs", late)).unwrap();
    assert_eq!(planned(&theirs, &ours), Ok((true, late.into())), "with our request");
    let same = encode(&ours).unwrap();
    assert_eq!(planned(&same, &ours), Ok((false, soon.into())), "a write whose answer was lost");
}

#[test]
fn what_a_newer_version_says_about_it_stays() {
    let ours = reservation("ours", LATE);
    for request in ["theirs", "ours"] {
        let mut theirs = encode(&reservation(request, "2026-11-16T08:10:00Z")).unwrap();
        for (key, value) in &mut theirs {
            if key.starts_with(common::api::names::INFO) {
                *value = value.replacen('{', r#"{"later":"field","#, 1);
            }
        }
        let annotations: BTreeMap<String, String> = theirs.into_iter().collect();
        let seen = ObservedNode { uid: "n", version: "1", annotations: &annotations };
        let patch = reserve_patch(&seen, "n", &ours, PLANNED.parse().unwrap()).unwrap().0.unwrap();
        let is_record = |step: &&serde_json::Value| {
            step["op"] != "test" && step["path"].as_str().is_some_and(|path| path.contains("reserve.info"))
        };
        let step = patch.as_array().unwrap().iter().find(is_record).unwrap();
        let record: serde_json::Value = serde_json::from_str(step["value"].as_str().unwrap()).unwrap();
        assert_eq!((&record["later"], &record["expires"]), (&"field".into(), &LATE.into()), "{request}");
    }
}

#[test]
fn what_another_run_took_over_is_no_longer_ours() {
    let (ours, theirs) = (reservation("ours", LATE), reservation("theirs", LATE));
    let there = |what: &[Reservation], now: &str| {
        let annotations: BTreeMap<String, String> =
            what.iter().flat_map(|one| encode(one).unwrap()).collect();
        let json = serde_json::json!({ "metadata": { "name": "n", "uid": "n", "resourceVersion": "1",
            "annotations": annotations }, "status": { "allocatable": { "cpu": "4" } } });
        let mut cluster = Cluster::default();
        let node = common::api::node::node(&json.to_string()).unwrap();
        cluster.apply(Event::Nodes(cluster::WatchEvent::Relisted(vec![node])));
        let now = now.parse().unwrap();
        cluster.advance(now);
        kept_room(&cluster, &NodeName::from("n"), &ours, now)
    };
    let ours = std::slice::from_ref(&ours);
    assert_eq!(there(ours, "2026-11-16T08:05:00Z"), KeptRoom::Kept);
    assert_eq!(there(ours, "2026-11-16T08:05:01Z"), KeptRoom::EndsSoon, "half of its life has passed");
    assert_eq!(there(ours, LATE), KeptRoom::EndsSoon, "its time is over");
    assert_eq!(there(&[theirs], PLANNED), KeptRoom::Lost, "it may be taken back any moment");
    assert_eq!(there(&[], PLANNED), KeptRoom::Lost);
}

#[test]
fn time_that_was_spent_waiting_does_not_shorten_it() {
    let ours = reservation("ours", LATE);
    let annotations = BTreeMap::new();
    let seen = ObservedNode { uid: "n", version: "1", annotations: &annotations };
    let end = |now: &str| reserve_patch(&seen, "n", &ours, now.parse().unwrap()).unwrap().1.to_string();
    assert_eq!(end("2026-11-16T08:05:00Z"), LATE);
    assert_eq!(end("2026-11-16T09:00:00Z"), "2026-11-16T09:20:00Z", "a budget was in the way for an hour");
}

#[test]
fn what_a_sibling_left_is_exchanged_in_one_patch_or_not_at_all() {
    let left = reservation("left", LATE);
    let mut wanted = reservation("wanted", LATE);
    wanted.id.seat = Seat::parse("8a4b1d");
    let patched = |there: &[Reservation], node: &str| {
        let annotations: BTreeMap<String, String> =
            there.iter().flat_map(|one| encode(one).unwrap()).collect();
        let seen = ObservedNode { uid: node, version: "1", annotations: &annotations };
        exchange_patch(&seen, "n", &left, &wanted, PLANNED.parse().unwrap())
            .unwrap()
            .map(|patch| patch.to_string())
    };
    let patch = patched(std::slice::from_ref(&left), "n").unwrap();
    for (what, id) in [("remove", &left.id), ("add", &wanted.id)] {
        let step = |key: &str| format!("{{\"op\":\"{what}\",\"path\":\"/metadata/annotations/{key}~1{id}\"");
        assert!(patch.contains(&step("reserve.cpu")), "{what}: {patch}");
    }
    assert_eq!(patched(&[], "n"), None, "it was released");
    assert_eq!(patched(&[reservation("theirs", LATE)], "n"), None, "another run took it over");
    assert_eq!(patched(std::slice::from_ref(&left), "other"), None, "another node of that name");
}

#[test]
fn a_pod_wishes_it_only_while_it_says_something_that_makes_sense() {
    let is_wished_by = |annotations: serde_json::Value| {
        let json = serde_json::json!({ "metadata": { "name": "p", "namespace": "default", "uid": "p",
            "resourceVersion": "1", "annotations": annotations }, "spec": { "containers": [] } });
        has_keep_annotation(&common::api::pod::pod(&json.to_string()).unwrap())
    };
    assert!(is_wished_by(serde_json::json!({ "reserve/keep": "5m" })));
    assert!(!is_wished_by(serde_json::json!({ "reserve/keep": "yes" })));
    assert!(!is_wished_by(serde_json::json!({})), "taken back");
}

#[test]
fn what_somebody_else_counts_on_is_needed() {
    let pod = |metadata: serde_json::Value| {
        let mut json = serde_json::json!({ "metadata": { "name": "p", "namespace": "default", "uid": "p",
            "resourceVersion": "1" }, "spec": { "containers": [] } });
        json["metadata"].as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
        common::api::pod::pod(&json.to_string()).unwrap()
    };
    let (stays, leaves) = (pod(serde_json::json!({})), pod(serde_json::json!({ "deletionTimestamp": LATE })));
    let wishes = pod(serde_json::json!({ "annotations": { "reserve/keep": "true" } }));
    for (pod, by_reservation, by_wish) in [
        (None, true, true),
        (Some(&stays), false, false),
        (Some(&leaves), true, true),
        (Some(&wishes), true, false),
    ] {
        let needed = [KeepMethod::Reservation, KeepMethod::KeepAnnotation]
            .map(|keep_method| is_needed(pod, keep_method));
        assert_eq!(needed, [by_reservation, by_wish], "{pod:?}");
    }
}

#[test]
fn a_newer_version_and_another_node_are_left_alone() {
    let ours = reservation("ours", "2026-11-16T08:10:00Z");
    let mut newer = encode(&ours).unwrap();
    newer.iter_mut().for_each(|(_, value)| *value = value.replace("\"v\":1", "\"v\":2"));
    assert!(matches!(planned(&newer, &ours), Err(StopReason::Failed(_))));
    let none = BTreeMap::new();
    let seen = ObservedNode { uid: "other", version: "1", annotations: &none };
    assert!(matches!(reserve_patch(&seen, "n", &ours, PLANNED.parse().unwrap()), Err(StopReason::Failed(_))));
}
