//! Findings about pods before nodes are looked at.

use super::{PendingInput, PodCause, blocked_workloads, group_causes, pod_finding, rollout_deadlock};
use crate::cluster_data::{ClusterData, ClusterDataBuilder, Resource};
use crate::render::pending::{report, table};
use common::api::pod::pod;
use common::model::owner::OwnerKind;
use common::model::{CatalogKind, PodKey};
use common::plugins::without_reservations;
use serde_json::{Value, json};

const NOW: &str = "2026-11-16T08:10:00Z";

fn pod_json(name: &str, spec: &Value, status: &Value) -> Value {
    let mut spec = spec.clone();
    spec["containers"] = json!([{ "name": "app", "resources": { "requests": { "cpu": "2" } } }]);
    json!({
        "metadata": { "name": name, "namespace": "shop", "uid": name, "creationTimestamp": "2026-11-16T08:05:00Z" },
        "spec": spec, "status": status,
    })
}

fn data(objects: &[(Resource, Value)]) -> ClusterData {
    let mut builder = ClusterDataBuilder::default();
    builder.keep_pod_json(["p".to_owned()].into_iter());
    let node = json!({ "metadata": { "name": "n1", "uid": "n1" }, "status": { "allocatable": { "cpu": "3", "pods": "9" } } });
    builder.add(Resource::Nodes, &node.to_string()).unwrap();
    for (resource, object) in objects {
        builder.add(*resource, &object.to_string()).unwrap();
    }
    builder.build(NOW.parse().unwrap(), "shop")
}

/// The finding about the pod: code, whether it is blocked, words.
fn finding_text(json: &Value, objects: &[(Resource, Value)]) -> String {
    let mut objects = objects.to_vec();
    objects.push((Resource::Pods, json.clone()));
    let mut data = data(&objects);
    let pod = pod(&json.to_string()).unwrap();
    let snapshot = data.cluster.snapshot(data.now);
    let serves = |name: &str| name == "ours";
    let input = PendingInput {
        snapshot: &snapshot,
        diagnostics: &data.diagnostics,
        now: data.now,
        serves: &serves,
        has_events: true,
    };
    match pod_finding(&pod, &input) {
        Some(finding) => format!("{} {}: {}", finding.code, finding.is_blocked, finding.words.join(" ")),
        None => "nothing".into(),
    }
}

fn unschedulable() -> Value {
    json!({ "phase": "Pending", "conditions": [
        { "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes" }] })
}

#[test]
fn the_pods_own_state_comes_first() {
    let of = |spec: Value, status: Value| finding_text(&pod_json("p", &spec, &status), &[]);
    assert_eq!(of(json!({}), unschedulable()), "nothing", "then it is up to the nodes");
    assert_eq!(of(json!({ "schedulerName": "ours" }), json!({})), "nothing");
    let cases = [
        (json!({ "nodeName": "n1" }), json!({ "phase": "Succeeded" })),
        (json!({ "nodeName": "gone" }), json!({})),
        (json!({ "schedulingGates": [{ "name": "a/b" }, { "name": "c" }] }), json!({})),
        (json!({ "schedulerName": "volcano" }), json!({})),
        (json!({ "resourceClaims": [{ "name": "gpu" }] }), unschedulable()),
        (json!({ "resourceClaims": [{ "name": "gpu" }], "schedulerName": "ours" }), unschedulable()),
    ];
    let all: Vec<String> = cases.into_iter().map(|(spec, status)| of(spec, status)).collect();
    insta::assert_snapshot!(all.join("\n"));
    let mut deleting = pod_json("p", &json!({}), &json!({}));
    deleting["metadata"]["deletionTimestamp"] = json!("2026-11-16T08:10:30Z");
    assert_eq!(finding_text(&deleting, &[]), "Deleting false: It is being deleted; its grace ends in 30s.");
    let mut fresh = pod_json("p", &json!({}), &json!({}));
    fresh["metadata"]["creationTimestamp"] = json!("2026-11-16T08:09:59Z");
    assert!(finding_text(&fresh, &[]).starts_with("JustCreated false"), "{}", finding_text(&fresh, &[]));
}

#[test]
fn a_scheduler_that_wrote_an_event_lately_is_there() {
    let event = |at: &str| {
        json!({ "involvedObject": { "kind": "Pod", "namespace": "x", "name": "y" }, "reason": "Scheduled",
                "source": { "component": "volcano" }, "lastTimestamp": at })
    };
    let json = pod_json("p", &json!({ "schedulerName": "volcano" }), &json!({}));
    assert_eq!(finding_text(&json, &[(Resource::Events, event("2026-11-16T07:30:00Z"))]), "nothing");
    assert!(
        finding_text(&json, &[(Resource::Events, event("2026-11-16T07:00:00Z"))])
            .starts_with("NoScheduler true")
    );
}

#[test]
fn a_bound_pod_says_what_it_waits_for() {
    let of = |status: Value| {
        let mut whole = json!({ "phase": "Pending", "startTime": "2026-11-16T08:06:00Z", "conditions": [
            { "type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-16T08:06:00Z" }] });
        for (key, value) in status.as_object().unwrap() {
            whole[key] = value.clone();
        }
        let mount = json!({ "involvedObject": { "kind": "Pod", "namespace": "shop", "name": "p" }, "reason": "FailedMount",
                            "message": "timed out", "lastTimestamp": "2026-11-16T08:09:00Z" });
        let events = if status["volume"] == true { vec![(Resource::Events, mount)] } else { Vec::new() };
        finding_text(&pod_json("p", &json!({ "nodeName": "n1" }), &whole), &events)
    };
    let waiting = |reason: &str| json!([{ "name": "app", "state": { "waiting": { "reason": reason, "message": "m" } } }]);
    let running = json!([{ "name": "app", "ready": false, "state": { "running": {} } }]);
    let all = [
        of(json!({ "containerStatuses": waiting("ImagePullBackOff") })),
        of(json!({ "containerStatuses": waiting("ContainerCreating") })),
        of(json!({ "containerStatuses": waiting("CrashLoopBackOff") })),
        of(json!({ "containerStatuses": running })),
        of(json!({ "initContainerStatuses": running })),
        of(json!({ "containerStatuses": waiting("ContainerCreating"), "volume": true })),
        of(json!({ "startTime": null })),
        of(json!({ "conditions": [{ "type": "Ready", "status": "True" }] })),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn claims_that_cannot_be_had_are_said() {
    let spec = json!({ "volumes": [{ "name": "v", "persistentVolumeClaim": { "claimName": "data" } }] });
    let json = pod_json("p", &spec, &unschedulable());
    let claim = |spec: Value| {
        (
            Resource::Others(CatalogKind::PersistentVolumeClaim),
            json!({ "metadata": { "name": "data", "namespace": "shop", "uid": "c" }, "spec": spec }),
        )
    };
    let class = |mode: &str, by: &str| {
        (
            Resource::Others(CatalogKind::StorageClass),
            json!({ "metadata": { "name": "fast", "uid": "s" }, "provisioner": by, "volumeBindingMode": mode }),
        )
    };
    let fast = || claim(json!({ "storageClassName": "fast" }));
    let all = [
        finding_text(&json, &[]),
        finding_text(&json, &[fast()]),
        finding_text(&json, &[fast(), class("Immediate", "example.com/fast")]),
        finding_text(&json, &[fast(), class("Immediate", "kubernetes.io/no-provisioner")]),
        finding_text(&json, &[fast(), class("WaitForFirstConsumer", "example.com/fast")]),
        finding_text(&json, &[claim(json!({}))]),
        finding_text(&json, &[claim(json!({ "volumeName": "pv-7" }))]),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

fn cause(name: &str, owner: Option<(&str, &str)>, label: &str) -> PodCause {
    PodCause {
        key: PodKey::new("shop", name),
        owner: owner.map(|(kind, name)| (kind.into(), name.into())),
        code: label.to_uppercase(),
        label: label.into(),
        detail: format!("about {name}"),
        is_blocked: label != "fits now",
    }
}

fn quota() -> ClusterData {
    let owner = json!([{ "apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": true }]);
    let message = "pods \"web-1-\" is forbidden: exceeded quota: compute, requested: cpu=4, used: cpu=18, limited: cpu=20";
    let set = json!({ "metadata": { "name": "web-1", "namespace": "shop", "uid": "r", "ownerReferences": owner },
        "spec": { "replicas": 3 }, "status": { "conditions": [
            { "type": "ReplicaFailure", "status": "True", "message": message }] } });
    let top = json!({ "metadata": { "name": "web", "namespace": "shop", "uid": "d" } });
    let job = json!({ "metadata": { "name": "calm", "namespace": "shop", "uid": "j" }, "spec": { "parallelism": 0 } });
    let failed = json!({ "involvedObject": { "kind": "Job", "namespace": "shop", "name": "calm" }, "reason": "FailedCreate",
                         "message": "Error creating: no", "lastTimestamp": "2026-11-16T08:09:00Z" });
    data(&[
        (Resource::Workloads(OwnerKind::ReplicaSet), set),
        (Resource::Workloads(OwnerKind::Deployment), top),
        (Resource::Workloads(OwnerKind::Job), job),
        (Resource::Events, failed),
    ])
}

#[test]
fn everything_that_waits_reads_well() {
    let data = quota();
    let blocked_workloads = blocked_workloads(&data.cluster, &data.diagnostics, Some("shop"), data.now);
    assert_eq!(blocked_workloads.len(), 1, "the Job wants no pods");
    let pg = Some(("StatefulSet", "pg"));
    let causes = group_causes(
        vec![
            cause("pg-10", pg, "PVC not bound"),
            cause("pg-9", pg, "PVC not bound"),
            cause("pg-11", pg, "PVC not bound"),
            cause("crunch-x", Some(("Job", "crunch")), "cpu too low"),
            cause("crunch-y", Some(("Job", "crunch")), "cpu too low"),
            cause("alone", None, "fits now"),
        ],
        blocked_workloads,
    );
    assert_eq!(causes.count(), 3, "two workloads may have the same cause");
    let same = [cause("a", None, "cpu too low"), cause("b", None, "cpu too low")];
    let flags = ["--snapshot".into(), "a b.gz".into()];
    let text = table(&group_causes(same.into(), vec![]), Some("shop"), &flags, 80);
    assert!(text.starts_with("2 pods Pending in shop namespace, 1 cause\n"), "{text}");
    assert!(text.ends_with("Details: kubectl reserve explain a -n shop --snapshot 'a b.gz'\n"), "{text}");
    insta::assert_snapshot!("triage", table(&causes, None, &[], 80));
    let document = serde_json::to_value(report(&causes, data.now)).unwrap();
    crate::print::schema_check::assert_valid(&document);
    insta::assert_snapshot!("triage_json", serde_json::to_string_pretty(&document).unwrap());
}

#[test]
fn a_rollout_that_waits_for_itself_is_seen() {
    let set = |name: &str| {
        let owner = json!([{ "apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": true }]);
        let json = json!({ "metadata": { "name": name, "namespace": "shop", "uid": name, "ownerReferences": owner } });
        (Resource::Workloads(OwnerKind::ReplicaSet), json)
    };
    let of = |name: &str, by: &str, node: Value| {
        let mut json = pod_json(name, &json!({ "nodeName": node }), &json!({}));
        json["metadata"]["ownerReferences"] = json!([{ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": by, "uid": by, "controller": true }]);
        json
    };
    let found = |unavailable: u32| {
        let rolling = json!({ "maxUnavailable": unavailable, "maxSurge": 1 });
        let top = json!({ "metadata": { "name": "web", "namespace": "shop", "uid": "d" },
                          "spec": { "replicas": 1, "strategy": { "rollingUpdate": rolling } } });
        let new = of("new", "web-2", Value::Null);
        let mut data = data(&[
            (Resource::Workloads(OwnerKind::Deployment), top),
            set("web-1"),
            set("web-2"),
            (Resource::Pods, of("old", "web-1", json!("n1"))),
            (Resource::Pods, new.clone()),
        ]);
        let snapshot = data.cluster.snapshot(data.now);
        rollout_deadlock(
            &pod(&new.to_string()).unwrap(),
            &snapshot,
            &data.diagnostics,
            &without_reservations(),
        )
    };
    let (words, command) = found(0).unwrap();
    insta::assert_snapshot!(format!("{words}\n{}", command.join(" ")));
    assert_eq!(found(1), None);
}
