//! Pods for which no reservation can be made because the record would be too long: they get one event before they are deleted.

use super::{apply, decoded, learn, listed, now, waiting};
use crate::state::{Effect, Input, State};
use common::api::namespace::namespace;
use common::cluster::{Event, WatchEvent};
use common::model::{CatalogKind, CatalogObject};
use serde_json::{Value, json};

/// A pod on the node with a hundred host ports, and without `reserve/keep`.
fn big(version: &str) -> Value {
    let mut json = waiting("big", "100m");
    let ports = (0..100).map(|port| {
        json!({ "containerPort": 1000 + port, "hostPort": 1000 + port, "protocol": "TCP", "hostIP": "192.168.100.200" })
    });
    json["metadata"]["uid"] = json!("55555555-0000-4000-8000-000000000001");
    json["metadata"]["resourceVersion"] = json!(version);
    json["spec"]["nodeName"] = json!("n1");
    json["spec"]["containers"][0]["ports"] = ports.collect();
    json["status"] = json!({ "phase": "Running" });
    json
}

/// Sets `reserve/keep` on the namespace.
fn keep_in_namespace(state: &mut State, seconds: u64) -> Vec<Effect> {
    let json = r#"{"metadata":{"name":"default","uid":"d","resourceVersion":"7","annotations":{"reserve/keep":"true"}}}"#;
    let namespace = CatalogObject::from(namespace(json).unwrap());
    state.handle(
        learn(Event::CatalogObjects(CatalogKind::Namespace, WatchEvent::Applied(namespace))),
        now(seconds),
    )
}

/// The number of events about it.
fn told(effects: &[Effect]) -> usize {
    let is_told = |effect: &&Effect| matches!(effect, Effect::WriteEvent(report) if report.reason == "NotReserved" && report.note.contains("may not be kept"));
    effects.iter().filter(is_told).count()
}

#[test]
fn the_pod_is_told_once_whoever_asks_and_whenever() {
    let mut state = listed(&json!({}));
    assert_eq!(told(&apply(&mut state, decoded(&big("5")), 1)), 0, "nobody asks");
    assert_eq!(told(&keep_in_namespace(&mut state, 2)), 1, "the namespace does, later than the pod came");
    assert_eq!(told(&apply(&mut state, decoded(&big("8")), 3)), 0, "it knows");
}

/// Found by the simulation, seed 4286.
#[test]
fn so_is_a_pod_whose_owner_asks_later() {
    let mut state = listed(&json!({}));
    let mut owned = big("5");
    owned["metadata"]["ownerReferences"] = json!([
        { "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": super::REPLICA_SET, "controller": true }]);
    assert_eq!(told(&apply(&mut state, decoded(&owned), 1)), 0);
    let set = json!({ "spec": { "replicas": 1 }, "metadata": { "name": "web-1", "namespace": "default",
        "uid": super::REPLICA_SET, "resourceVersion": "9", "annotations": { "reserve/keep": "true" } } });
    let set = super::workload(super::OwnerKind::ReplicaSet, &set.to_string()).unwrap();
    let event = Event::Workloads(super::OwnerKind::ReplicaSet, WatchEvent::Applied(set));
    assert_eq!(told(&state.handle(learn(event), now(2))), 1);
}

#[test]
fn whoever_begins_to_lead_tells_it() {
    let mut state = listed(&json!({}));
    state.handle(Input::Leading(false), now(1));
    assert_eq!(told(&keep_in_namespace(&mut state, 2)), 0);
    assert_eq!(told(&apply(&mut state, decoded(&big("8")), 3)), 0);
    assert_eq!(told(&state.handle(Input::Leading(true), now(4))), 1);
    assert_eq!(told(&apply(&mut state, decoded(&big("9")), 5)), 0);
}
