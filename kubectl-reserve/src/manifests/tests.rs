//! What is rendered, without a cluster. That it equals what kustomize renders is for `tests/tests/install_verb.rs`, which
//! has a kubectl.

use super::{Choice, KINDS, Kind, Object, difference, objects, yaml};
use serde_json::json;

fn choice() -> Choice {
    Choice { image: None, namespace: "kube-reserve".into(), is_extender: false }
}

fn words(choice: &Choice) -> Vec<String> {
    objects(choice).unwrap().iter().map(Object::word).collect()
}

fn find(objects: &[Object], word: &str) -> serde_json::Value {
    objects.iter().find(|object| object.word() == word).unwrap_or_else(|| panic!("no {word}")).json.clone()
}

#[test]
fn what_others_refer_to_comes_first_and_the_daemon_last() {
    let words = words(&choice());
    assert_eq!(words.first().unwrap(), "namespace/kube-reserve");
    assert_eq!(words.last().unwrap(), "deployment.apps/reserve-daemon");
    assert_eq!(words.len(), 41);
    assert!(KINDS.iter().enumerate().all(|(index, kind)| Kind::find(kind.kind) == Some((index, *kind))));
}

#[test]
fn everything_has_our_label_and_the_leaders_lease_is_no_replicas() {
    for object in objects(&choice()).unwrap() {
        assert_eq!(object.json["metadata"]["labels"]["app.kubernetes.io/part-of"], "kubectl-reserve");
        let is_replica = object.json["metadata"]["labels"]["app.kubernetes.io/name"] == "kubectl-reserve";
        assert!(object.kind.kind != "Lease" || !is_replica);
    }
}

#[test]
fn the_image_is_of_this_version_or_the_one_asked_for() {
    let image = |choice: &Choice| {
        let deployment = find(&objects(choice).unwrap(), "deployment.apps/reserve-daemon");
        deployment["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap().to_owned()
    };
    assert_eq!(image(&choice()), format!("reserve-daemon:{}", env!("CARGO_PKG_VERSION")));
    let other = Choice { image: Some("example.com/r:2@sha256:ab".into()), ..choice() };
    assert_eq!(image(&other), "example.com/r:2@sha256:ab");
}

#[test]
fn another_namespace_is_meant_everywhere() {
    let other = Choice { namespace: "elsewhere".into(), is_extender: true, ..choice() };
    let text = yaml(&objects(&other).unwrap()).unwrap();
    assert!(!text.contains("kube-reserve"), "{text}");
    assert!(text.contains("system:serviceaccount:elsewhere:reserve-daemon"));
    let name =
        |choice: &Choice| words(choice).into_iter().find(|word| word.starts_with("configmap/")).unwrap();
    assert_eq!(name(&choice()), "configmap/reserve-daemon-497ffc7gb2", "as kustomize calls it");
    assert_ne!(name(&choice()), name(&other), "its content is another");
}

#[test]
fn the_text_reads_back_as_the_same_objects() {
    let objects = objects(&Choice { is_extender: true, ..choice() }).unwrap();
    let read: Vec<serde_json::Value> = serde_saphyr::from_multiple(&yaml(&objects).unwrap()).unwrap();
    let said: Vec<_> = objects.iter().map(|object| object.json.clone()).collect();
    assert_eq!(read, said);
}

#[test]
fn what_the_server_adds_is_no_difference() {
    let wanted = json!({ "spec": { "ports": [{ "port": 1 }], "none": {} }, "kind": "Service" });
    let live = json!({ "spec": { "ports": [{ "port": 1, "protocol": "TCP" }], "ip": "10.0.0.1" }, "kind": "Service" });
    assert_eq!(difference(&wanted, &live), None);
    let cases = [
        (json!({ "kind": "Service" }), "spec"),
        (json!({ "spec": { "ports": [] }, "kind": "Service" }), "spec.ports"),
        (json!({ "spec": { "ports": [{ "port": 2 }] }, "kind": "Service" }), "spec.ports[0].port"),
        (json!({ "spec": { "ports": [{ "port": 1 }] }, "kind": "Secret" }), "kind"),
    ];
    for (live, place) in cases {
        assert_eq!(difference(&wanted, &live).as_deref(), Some(place), "{live}");
    }
}
