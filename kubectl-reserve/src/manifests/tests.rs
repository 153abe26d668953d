//! The rendered objects, without a cluster. That they equal kustomize's is tested in `tests/tests/install_verb`, which has a
//! kubectl.

use super::{InstallOptions, KINDS, ManifestKind, Object, difference, objects, yaml};
use serde_json::json;

fn options() -> InstallOptions {
    InstallOptions { image: None, namespace: "kube-reserve".into(), is_extender: false }
}

fn words(options: &InstallOptions) -> Vec<String> {
    objects(options).unwrap().iter().map(Object::word).collect()
}

fn find(objects: &[Object], word: &str) -> serde_json::Value {
    objects.iter().find(|object| object.word() == word).unwrap_or_else(|| panic!("no {word}")).json.clone()
}

#[test]
fn what_others_refer_to_comes_first_and_the_daemon_last() {
    let words = words(&options());
    assert_eq!(words.first().unwrap(), "namespace/kube-reserve");
    assert_eq!(words.last().unwrap(), "deployment.apps/reserve-daemon");
    assert_eq!(words.len(), 41);
    assert!(
        KINDS.iter().enumerate().all(|(index, kind)| ManifestKind::find(kind.kind) == Some((index, *kind)))
    );
}

#[test]
fn everything_has_our_label_and_the_leaders_lease_is_no_replicas() {
    for object in objects(&options()).unwrap() {
        assert_eq!(object.json["metadata"]["labels"]["app.kubernetes.io/part-of"], "kubectl-reserve");
        let is_replica = object.json["metadata"]["labels"]["app.kubernetes.io/name"] == "kubectl-reserve";
        assert!(object.kind.kind != "Lease" || !is_replica);
    }
}

#[test]
fn the_image_is_of_this_version_or_the_one_asked_for() {
    let image = |options: &InstallOptions| {
        let deployment = find(&objects(options).unwrap(), "deployment.apps/reserve-daemon");
        deployment["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap().to_owned()
    };
    assert_eq!(image(&options()), format!("reserve-daemon:{}", env!("CARGO_PKG_VERSION")));
    let other = InstallOptions { image: Some("example.com/r:2@sha256:ab".into()), ..options() };
    assert_eq!(image(&other), "example.com/r:2@sha256:ab");
}

#[test]
fn another_namespace_is_meant_everywhere() {
    let other = InstallOptions { namespace: "elsewhere".into(), is_extender: true, ..options() };
    let text = yaml(&objects(&other).unwrap()).unwrap();
    assert!(!text.contains("kube-reserve"), "{text}");
    assert!(text.contains("system:serviceaccount:elsewhere:reserve-daemon"));
    let name = |options: &InstallOptions| {
        words(options).into_iter().find(|word| word.starts_with("configmap/")).unwrap()
    };
    assert_eq!(name(&options()), "configmap/reserve-daemon-497ffc7gb2", "as kustomize calls it");
    assert_ne!(name(&options()), name(&other), "its content is another");
}

#[test]
fn the_text_reads_back_as_the_same_objects() {
    let objects = objects(&InstallOptions { is_extender: true, ..options() }).unwrap();
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
