//! Claims with `WaitForFirstConsumer`: volumes are bound after the pod got a node.

use super::{answer, apply, bind, decoded, learn, listed, now, told, waiting};
use crate::state::{BindingOutcome, Effect, Input, State};
use common::api::catalog_object::catalog_object;
use common::api::volume_writes::{node_for_claim, volume_for_claim};
use common::cluster::{Event, WatchEvent};
use common::model::storage::ClaimRef;
use common::model::{CatalogKind, ObjectWrite, PodKey};
use serde_json::{Value, json};

fn apply_object(state: &mut State, kind: CatalogKind, json: &Value, seconds: u64) -> Vec<Effect> {
    let object = catalog_object(kind, &json.to_string()).unwrap();
    state.handle(learn(Event::CatalogObjects(kind, WatchEvent::Applied(object))), now(seconds))
}

fn class(provisioner: &str) -> Value {
    json!({ "metadata": { "name": "late", "uid": "class", "resourceVersion": "1" },
            "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer" })
}

fn claim(version: u64) -> Value {
    json!({ "metadata": { "name": "c", "namespace": "default", "uid": "uid-c", "resourceVersion": version.to_string(), "annotations": {} },
            "spec": { "storageClassName": "late", "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } },
            "status": { "phase": "Pending" } })
}

fn claim_bound(version: u64) -> Value {
    let mut json = claim(version);
    json["spec"]["volumeName"] = json!("v");
    json["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] = json!("yes");
    json["status"]["phase"] = json!("Bound");
    json
}

fn volume(version: u64) -> Value {
    json!({ "metadata": { "name": "v", "uid": "uid-v", "resourceVersion": version.to_string() },
            "spec": { "storageClassName": "late", "accessModes": ["ReadWriteOnce"], "capacity": { "storage": "1Gi" } },
            "status": { "phase": "Available" } })
}

fn volume_claimed(version: u64) -> Value {
    let mut json = volume(version);
    json["spec"]["claimRef"] = json!({ "namespace": "default", "name": "c", "uid": "uid-c" });
    json
}

fn mounting() -> Value {
    let mut json = waiting("a", "4");
    json["spec"]["volumes"] = json!([{ "name": "v", "persistentVolumeClaim": { "claimName": "c" } }]);
    json
}

/// A state with a claim that waits for its pod, and with one free volume unless volumes are provisioned.
fn storage(is_provisioned: bool) -> State {
    let mut state = listed(&json!({}));
    let provisioner = if is_provisioned { "example.com/p" } else { "kubernetes.io/no-provisioner" };
    apply_object(&mut state, CatalogKind::StorageClass, &class(provisioner), 0);
    if !is_provisioned {
        apply_object(&mut state, CatalogKind::PersistentVolume, &volume(3), 0);
    }
    apply_object(&mut state, CatalogKind::PersistentVolumeClaim, &claim(4), 0);
    state
}

fn claim_ref() -> ClaimRef {
    ClaimRef { namespace: "default".into(), name: "c".into(), uid: Some("uid-c".into()) }
}

/// The writes, and the number of the try.
fn writes(effects: &[Effect]) -> (Vec<ObjectWrite>, u64) {
    let found = effects.iter().find_map(|effect| match effect {
        Effect::WriteObjects { writes, id, .. } => Some((writes.clone(), *id)),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{effects:?}"))
}

fn written(state: &mut State, id: u64, outcome: Result<Vec<u64>, String>, seconds: u64) -> Vec<Effect> {
    let (pod, uid) = (PodKey::new("default", "a"), "uid-a".into());
    state.handle(Input::ObjectsWritten { pod, uid, id, outcome }, now(seconds))
}

#[test]
fn a_volume_that_is_there_is_bound_before_the_pod() {
    let mut state = storage(false);
    let effects = apply(&mut state, decoded(&mounting()), 0);
    let (asked, id) = writes(&effects);
    assert_eq!(asked, [volume_for_claim("v", 3, &claim_ref(), 4, true)]);
    assert_eq!(written(&mut state, id, Ok(vec![5]), 1), [], "the controller has yet to see it");
    let effects = apply(&mut state, decoded(&waiting("b", "4")), 1);
    assert!(told(&effects)[0].contains("Insufficient cpu"), "its room is kept: {effects:?}");
    assert_eq!(apply_object(&mut state, CatalogKind::PersistentVolume, &volume_claimed(5), 2), []);
    assert_eq!(apply_object(&mut state, CatalogKind::PersistentVolumeClaim, &claim_bound(6), 2), [bind("a")]);
    assert!(!answer(&mut state, "a", BindingOutcome::Bound, 3).is_empty());
}

#[test]
fn a_claim_names_the_node_that_a_volume_is_made_for() {
    let mut state = storage(true);
    let (asked, id) = writes(&apply(&mut state, decoded(&mounting()), 0));
    assert_eq!(asked, [node_for_claim(&claim_ref(), 4, &"n1".into())]);
    let mut selected = claim(5);
    selected["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] = json!("n1");
    assert_eq!(apply_object(&mut state, CatalogKind::PersistentVolumeClaim, &selected, 1), []);
    assert_eq!(written(&mut state, id, Ok(vec![5]), 1), []);
    apply_object(&mut state, CatalogKind::PersistentVolume, &volume_claimed(6), 2);
    let mut bound = claim_bound(7);
    bound["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] = json!("n1");
    assert_eq!(apply_object(&mut state, CatalogKind::PersistentVolumeClaim, &bound, 2), [bind("a")]);
}

#[test]
fn what_goes_wrong_is_told_in_upstreams_words_and_the_room_given_back() {
    let plugin = "running PreBind plugin \"VolumeBinding\": ";
    let mut state = storage(true);
    let (_, id) = writes(&apply(&mut state, decoded(&mounting()), 0));
    written(&mut state, id, Ok(vec![5]), 1);
    let effects = apply_object(&mut state, CatalogKind::PersistentVolumeClaim, &claim(6), 2);
    let why = format!("{plugin}binding volumes: provisioning failed for PVC \"c\"");
    assert_eq!(told(&effects), [why.as_str()], "whoever makes volumes gave up");
    let Some(Effect::Condition { reason, .. }) = effects.first() else { panic!("{effects:?}") };
    assert_eq!(*reason, "SchedulerError");
    assert_eq!(apply(&mut state, decoded(&waiting("b", "4")), 2), [bind("b")], "the room is free");

    let mut state = storage(false);
    let (_, id) = writes(&apply(&mut state, decoded(&mounting()), 0));
    let effects = written(&mut state, id, Err("no".into()), 1);
    assert_eq!(told(&effects), [format!("{plugin}no").as_str()]);
    let (_, again) = writes(&state.handle(Input::Tick, now(2)));
    assert_ne!(id, again, "it is tried again after its backoff");
    assert_eq!(
        written(&mut state, id, Err("late".into()), 2),
        [],
        "an answer to the first try means nothing now"
    );

    let mut state = storage(false);
    let (_, id) = writes(&apply(&mut state, decoded(&mounting()), 0));
    written(&mut state, id, Ok(vec![5]), 1);
    assert_eq!(state.next_tick(now(1)), Some(now(600).elapsed));
    let effects = state.handle(Input::Tick, now(600));
    assert_eq!(told(&effects), [format!("{plugin}binding volumes: context deadline exceeded").as_str()]);
}

#[test]
fn a_pod_that_its_volume_kept_out_is_tried_again_when_the_volume_changes() {
    let zoned = |version: u64, zone: &str| {
        let mut json = volume_claimed(version);
        json["metadata"]["labels"] = json!({ "topology.kubernetes.io/zone": zone });
        json
    };
    let on_nodes = |version: u64, rack: &str| {
        let mut json = volume_claimed(version);
        let term = json!({ "matchExpressions": [{ "key": "rack", "operator": "In", "values": [rack] }] });
        json["spec"]["nodeAffinity"] = json!({ "required": { "nodeSelectorTerms": [term] } });
        json
    };
    for (there, elsewhere, kept_out) in
        [(zoned(9, "a"), zoned(7, "b"), "zone"), (on_nodes(9, "a"), on_nodes(7, "b"), "node affinity")]
    {
        let mut state = storage(false);
        let node = json!({ "metadata": { "name": "n1", "uid": "another", "resourceVersion": "9",
            "labels": { "topology.kubernetes.io/zone": "a", "rack": "a" } },
            "status": { "allocatable": { "cpu": "6", "memory": "8Gi", "pods": "110" } } });
        let node = common::api::node::node(&node.to_string()).unwrap();
        state.handle(learn(Event::Nodes(WatchEvent::Relisted(vec![node]))), now(0));
        apply_object(&mut state, CatalogKind::PersistentVolume, &elsewhere, 0);
        apply_object(&mut state, CatalogKind::PersistentVolumeClaim, &claim_bound(8), 0);
        let refused = apply(&mut state, decoded(&mounting()), 0);
        assert!(told(&refused)[0].contains(kept_out), "{refused:?}");
        let effects = apply_object(&mut state, CatalogKind::PersistentVolume, &there, 2);
        assert!(effects.contains(&bind("a")), "{kept_out}: {effects:?}");
    }
}
