//! Manifests are turned into the pods that the API server would store.

use super::read::parse;
use super::{manifest_pods, read};
use crate::cluster_data::diagnostics::PriorityClass;
use crate::error::Exit;
use std::collections::BTreeMap;

const MANIFEST: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  template:
    metadata: {labels: {app: web}}
    spec:
      priorityClassName: high
      hostNetwork: true
      containers:
      - name: app
        ports: [{containerPort: 80}]
        resources: {limits: {cpu: 2, memory: 1Gi}, requests: {cpu: 500m}}
---
---
{\"apiVersion\": \"batch/v1\", \"kind\": \"Job\", \"metadata\": {\"generateName\": \"crunch-\"},
 \"spec\": {\"parallelism\": 5, \"completions\": 2, \"template\": {\"spec\": {\"containers\": [{\"name\": \"c\"}]}}}}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: one}, spec: {schedulerName: mine, containers: []}}
";

fn classes() -> BTreeMap<String, PriorityClass> {
    let class = |value, global_default| PriorityClass {
        value,
        global_default,
        preemption_policy: Some("Never".into()),
    };
    [("high".to_owned(), class(100, false)), ("usual".to_owned(), class(7, true))].into()
}

#[test]
fn workloads_and_pods_are_found_with_the_servers_defaults() {
    let found = manifest_pods(&parse(MANIFEST, "x").unwrap(), "default", &classes()).unwrap();
    let shown: Vec<String> =
        found.iter().map(|one| format!("{} {} x{}", one.from, one.pod.key, one.replicas)).collect();
    assert_eq!(
        shown,
        ["Deployment/web shop/web x3", "Job/crunch default/crunch x2", "Pod/one default/one x1"]
    );
    let [web, crunch, one] = &found[..] else { panic!("{shown:?}") };
    let asks: Vec<String> = web
        .pod
        .spec
        .requests
        .incoming
        .iter()
        .map(|(name, amount)| format!("{name} {}", name.format(amount)))
        .collect();
    assert!(asks.contains(&"cpu 500m".to_owned()) && asks.contains(&"memory 1Gi".to_owned()), "{asks:?}");
    assert_eq!((web.pod.spec.priority, web.pod.spec.preempts), (100, false));
    assert_eq!(web.pod.spec.ports[0].port, 80);
    assert_eq!((&*crunch.pod.spec.scheduler_name, crunch.pod.spec.priority), ("default-scheduler", 7));
    assert_eq!(&*one.pod.spec.scheduler_name, "mine");
}

/// As the API server, which decodes numbers as quantities.
#[test]
fn quantities_may_be_numbers() {
    let manifest = "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {overhead: {cpu: 1}, containers: [\
        {name: c, resources: {requests: {cpu: 1.5, memory: 1073741824}, limits: {nvidia.com/gpu: 1, cpu: 2}}}]}}";
    let found = manifest_pods(&parse(manifest, "x").unwrap(), "default", &BTreeMap::new()).unwrap();
    let asks = &found[0].pod.spec.requests.incoming;
    let gpu = asks.get(&common::model::ResourceName::from("nvidia.com/gpu"));
    assert_eq!((asks.cpu, asks.memory, gpu), (2500, 1 << 30, 1));
}

/// In the words of the API server's strict validation.
#[test]
fn a_field_that_the_type_does_not_have_is_refused() {
    let refused = |spec: &str| {
        let manifest = format!("{{apiVersion: v1, kind: Pod, metadata: {{name: x}}, spec: {spec}}}");
        let documents = parse(&manifest, "x").unwrap();
        let found = manifest_pods(&documents, "default", &BTreeMap::new());
        found.err().map(|failure| (failure.exit, failure.message.unwrap()))
    };
    let strict = |fields: &str| {
        let words =
            format!("Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: {fields}");
        Some((Exit::Usage, words))
    };
    assert_eq!(refused("{container: [], containers: []}"), strict("unknown field \"spec.container\""));
    assert_eq!(
        refused("{containers: [{name: a}, {name: b, resource: {}, imag: x}]}"),
        strict("unknown field \"spec.containers[1].imag\", unknown field \"spec.containers[1].resource\"")
    );
    let (_, of_another_type) = refused("{containers: {name: a}}").unwrap();
    assert!(of_another_type.contains("cannot be handled as a Pod: invalid type: map"), "{of_another_type}");
    // What has no value, and what is empty, is fine.
    assert_eq!(
        refused("{containers: [{name: a, env: [], resources: {}, lifecycle: null}], volumes: []}"),
        None
    );
}

#[test]
fn a_file_without_an_object_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let empty = dir.path().join("empty.yaml");
    std::fs::write(&empty, "---\n# nothing\n---\n").unwrap();
    let said = |path: &std::path::Path| {
        let failure = read(&[path.to_owned()], false).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        failure.message.unwrap()
    };
    assert_eq!(said(&empty), format!("{}: there is no object in it", empty.display()));
    assert!(said(dir.path()).ends_with("no object in its json, yaml, yml files"));
}

#[test]
fn what_cannot_be_read_says_where() {
    let documents = parse(MANIFEST, "x").unwrap();
    let failure = manifest_pods(&documents, "default", &BTreeMap::new()).unwrap_err();
    assert_eq!(failure.message.as_deref(), Some("Deployment web: no PriorityClass with name high was found"));
    assert_eq!(parse("a: [", "web.yaml").unwrap_err().exit, Exit::Usage);
    let empty = parse("{apiVersion: v1, kind: Pod, metadata: {name: x}}", "x").unwrap();
    assert_eq!(
        manifest_pods(&empty, "default", &BTreeMap::new()).unwrap_err().message.as_deref(),
        Some("Pod x has no pod template with a spec")
    );
    assert!(read(&["/nonexistent/x.yaml".into()], false).is_err());
}

#[test]
fn a_directory_is_its_manifests_and_only_when_asked_those_below() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("below")).unwrap();
    for (name, text) in
        [("b.yaml", "a: 2"), ("a.json", "{\"a\": 1}"), ("c.txt", "no: [manifest"), ("below/d.yml", "a: 3")]
    {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let numbers = |is_recursive| {
        let documents = read(&[dir.path().into()], is_recursive).unwrap();
        documents.iter().map(|document| document["a"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(false), [1, 2]);
    assert_eq!(numbers(true), [1, 2, 3]);
}
