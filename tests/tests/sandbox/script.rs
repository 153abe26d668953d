//! The requests that are replayed on the sandbox and on the real API server: what the daemon, the command and kubectl ask,
//! and what they get when they ask for too much.

use crate::steps::{JSON, MERGE, STRATEGIC, Step, delete, get, patch, post, put};
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

pub(crate) fn pod(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "labels": { "app": name } },
            "spec": { "containers": [{ "name": "c", "image": "i", "resources": { "limits": { "cpu": "1" }, "requests": { "memory": "1Gi" } } }] } })
}

fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, last) = pointer.rsplit_once('/').expect("a pointer");
    object.pointer_mut(parent).expect("a parent")[last] = value;
    object
}

fn binding(pod: &str, uid: &str, node: &str) -> Step {
    let body = json!({ "apiVersion": "v1", "kind": "Binding", "metadata": { "name": pod, "uid": uid, "annotations": { "reserve/seat": "s" } },
                       "target": { "apiVersion": "v1", "kind": "Node", "name": node } });
    post(&format!("{PODS}/{pod}/binding"), body)
}

fn eviction(pod: &str, options: Value) -> Step {
    let body = json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": pod, "namespace": "default" }, "deleteOptions": options });
    post(&format!("{PODS}/{pod}/eviction"), body)
}

fn running(pod: &str) -> Step {
    let status = json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] });
    patch(&format!("{PODS}/{pod}/status"), STRATEGIC, json!({ "status": status }))
}

/// Every part, in order.
pub(crate) fn all() -> Vec<Step> {
    [
        nodes(),
        pods(),
        bindings(),
        deletions(),
        evictions(),
        patches(),
        workloads(),
        leases(),
        events(),
        lists(),
        refusals(),
        reviews(),
    ]
    .concat()
}

fn nodes() -> Vec<Step> {
    let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n1", "labels": { "pool": "a" } } });
    let key = "/metadata/annotations/reserve.cpu~1a.b";
    let test = |path: &str, value: &str| json!({ "op": "test", "path": path, "value": value });
    let add = |path: &str, value: Value| json!({ "op": "add", "path": path, "value": value });
    vec![
        post("/api/v1/nodes", node.clone()).save("n1"),
        post("/api/v1/nodes", node),
        patch(
            "/api/v1/nodes/n1",
            JSON,
            json!([test("/metadata/uid", "{n1.uid}"), add("/metadata/annotations", json!({ "x": "y" }))]),
        )
        .save("n1"),
        patch(
            "/api/v1/nodes/n1",
            JSON,
            json!([test("/metadata/resourceVersion", "{n1.rv}"), add(key, json!("1000m"))]),
        )
        .save("n1b"),
        patch(
            "/api/v1/nodes/n1",
            JSON,
            json!([test("/metadata/resourceVersion", "{n1.rv}"), add(key, json!("2000m"))]),
        ),
        patch("/api/v1/nodes/n1", JSON, json!([test(key, "9"), json!({ "op": "remove", "path": key })])),
        patch(
            "/api/v1/nodes/n1",
            JSON,
            json!([test("/metadata/uid", "other"), json!({ "op": "remove", "path": key })]),
        ),
        patch("/api/v1/nodes/n1", JSON, json!([test(key, "1000m"), json!({ "op": "remove", "path": key })])),
        patch("/api/v1/nodes/n1", JSON, json!([json!({ "op": "remove", "path": key })])),
        patch(
            "/api/v1/nodes/n1?dryRun=All",
            MERGE,
            json!({ "metadata": { "annotations": { "dry": "run" } } }),
        ),
        get("/api/v1/nodes/n1"),
        patch("/api/v1/nodes/n1", STRATEGIC, json!({ "spec": { "unschedulable": true } })),
        patch("/api/v1/nodes/n1", STRATEGIC, json!({ "spec": { "unschedulable": null } })),
        patch("/api/v1/nodes/n1/status", MERGE, json!({ "status": { "allocatable": { "cpu": "4" } } })),
        patch(
            "/api/v1/nodes/n1",
            MERGE,
            json!({ "metadata": { "resourceVersion": "{n1.rv}", "annotations": { "late": "r" } } }),
        ),
        patch(
            "/api/v1/nodes/n1",
            MERGE,
            json!({ "metadata": { "uid": "00000000-0000-0000-0000-000000000000" } }),
        ),
        patch("/api/v1/nodes/n9", MERGE, json!({ "metadata": { "annotations": { "x": "y" } } })),
        get("/api/v1/nodes/n9"),
        put(
            "/api/v1/nodes/n1",
            json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n1", "resourceVersion": "{n1.rv}" } }),
        ),
        put("/api/v1/nodes/n1", json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n2" } })),
    ]
}

fn pods() -> Vec<Step> {
    let class = json!({ "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": { "name": "high" }, "value": 1000 });
    vec![
        get(PODS).save("start"),
        post(PODS, pod("p1")).save("p1"),
        post(&format!("{PODS}?dryRun=All"), pod("dry")),
        post("/apis/scheduling.k8s.io/v1/priorityclasses", class),
        post(
            PODS,
            with(
                with(pod("p2"), "/spec/priorityClassName", json!("high")),
                "/spec/schedulerName",
                json!("reserve-scheduler"),
            ),
        ),
        post(PODS, pod("p4")),
        post(PODS, with(pod("gated"), "/spec/schedulingGates", json!([{ "name": "example.com/g" }])))
            .save("gated"),
        post(PODS, with(pod(""), "/metadata", json!({ "generateName": "made-" }))).save("made"),
        patch(
            &format!("{PODS}/p1/status"),
            STRATEGIC,
            json!({ "metadata": { "uid": "{p1.uid}" }, "status": { "conditions": [
            { "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "m" }], "nominatedNodeName": "n1" } }),
        ),
        patch(
            &format!("{PODS}/p1/status"),
            STRATEGIC,
            json!({ "metadata": { "uid": "00000000-0000-0000-0000-000000000000" }, "status": { "nominatedNodeName": null } }),
        ),
        patch(&format!("{PODS}/p1/status"), STRATEGIC, json!({ "status": { "nominatedNodeName": null } })),
        patch(
            &format!("{PODS}/p1"),
            MERGE,
            json!({ "metadata": { "annotations": { "reserve/keep": "true" } } }),
        ),
        patch(&format!("{PODS}/p1"), MERGE, json!({ "spec": { "nodeName": "n1" } })),
        patch(&format!("{PODS}/p1"), MERGE, json!({ "status": { "phase": "Running" } })),
        get(&format!("{PODS}/p1/status")),
    ]
}

fn bindings() -> Vec<Step> {
    vec![
        binding("p1", "00000000-0000-0000-0000-000000000000", "n1"),
        post(
            &format!("{PODS}/p1/binding?dryRun=All"),
            json!({ "apiVersion": "v1", "kind": "Binding", "metadata": { "name": "p1" }, "target": { "name": "n1" } }),
        ),
        get(&format!("{PODS}/p1")),
        binding("p1", "{p1.uid}", "n1"),
        get(&format!("{PODS}/p1")),
        binding("p1", "{p1.uid}", "n1"),
        binding("p1", "{p1.uid}", "n2"),
        binding("nobody", "{p1.uid}", "n1"),
        binding("gated", "{gated.uid}", "n1"),
        binding("p2", "", "ghost"),
        post(
            &format!("{PODS}/p4/binding"),
            json!({ "apiVersion": "v1", "kind": "Binding", "metadata": { "name": "p4" }, "target": { "name": "" } }),
        ),
        running("p1"),
    ]
}

fn deletions() -> Vec<Step> {
    vec![
        post(PODS, pod("d1")).save("d1"),
        delete(
            &format!("{PODS}/d1"),
            json!({ "preconditions": { "uid": "00000000-0000-0000-0000-000000000000" } }),
        ),
        delete(&format!("{PODS}/d1"), json!({ "preconditions": { "resourceVersion": "1" } })),
        delete(&format!("{PODS}/d1"), json!({ "dryRun": ["All"] })),
        delete(&format!("{PODS}/d1"), Value::Null),
        delete(&format!("{PODS}/d1"), Value::Null),
        post(PODS, pod("d2")).save("d2"),
        binding("d2", "{d2.uid}", "n1"),
        running("d2"),
        delete(&format!("{PODS}/d2"), Value::Null),
        delete(&format!("{PODS}/d2"), json!({ "gracePeriodSeconds": 60 })),
        delete(&format!("{PODS}/d2"), json!({ "gracePeriodSeconds": 5 })),
        binding("d2", "{d2.uid}", "n1"),
        eviction("d2", Value::Null),
        delete(
            &format!("{PODS}/d2"),
            json!({ "gracePeriodSeconds": 0, "preconditions": { "uid": "{d2.uid}" } }),
        ),
        post(PODS, with(pod("d3"), "/metadata/finalizers", json!(["example.com/f"]))).save("d3"),
        binding("d3", "{d3.uid}", "n1"),
        delete(&format!("{PODS}/d3"), json!({ "gracePeriodSeconds": 0 })),
        delete(&format!("{PODS}/d3"), json!({ "gracePeriodSeconds": 0 })),
        patch(&format!("{PODS}/d3"), JSON, json!([{ "op": "remove", "path": "/metadata/finalizers" }])),
        get(&format!("{PODS}/d3")),
        post(
            "/api/v1/namespaces/default/configmaps",
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "c" } }),
        )
        .save("c"),
        delete("/api/v1/namespaces/default/configmaps/c", json!({ "propagationPolicy": "Background" })),
        get("/api/v1/namespaces/default/pods?watch=1&timeoutSeconds=1&resourceVersion={start.rv}"),
        get(
            "/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion={start.rv}&fieldSelector=spec.nodeName%3Dn1",
        ),
        get(
            "/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion={start.rv}&fieldSelector=status.phase%21%3DRunning&labelSelector=app+in+(d2,p1)",
        ),
    ]
}

fn evictions() -> Vec<Step> {
    let budget = json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": { "name": "b" },
        "spec": { "minAvailable": 1, "selector": { "matchLabels": { "app": "e" } } } });
    let budget_status = |allowed: i64| {
        json!({ "status": { "observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": 1 + allowed,
                                                           "desiredHealthy": 1, "expectedPods": 2 } })
    };
    let evictable = |name: &str| with(pod(name), "/metadata/labels", json!({ "app": "e" }));
    vec![
        post(PODS, evictable("e1")).save("e1"),
        post(PODS, evictable("e2")).save("e2"),
        binding("e1", "{e1.uid}", "n1"),
        binding("e2", "{e2.uid}", "n1"),
        running("e1"),
        running("e2"),
        post(BUDGETS, budget),
        eviction("e1", Value::Null),
        patch(&format!("{BUDGETS}/b/status"), MERGE, budget_status(0)),
        eviction("e1", Value::Null),
        patch(&format!("{BUDGETS}/b/status"), MERGE, budget_status(1)),
        eviction("e1", json!({ "dryRun": ["All"] })),
        eviction("e1", json!({ "preconditions": { "uid": "00000000-0000-0000-0000-000000000000" } })),
        get(&format!("{BUDGETS}/b")),
        patch(&format!("{BUDGETS}/b/status"), MERGE, budget_status(1)),
        eviction("e1", json!({ "preconditions": { "uid": "{e1.uid}" } })),
        get(&format!("{PODS}/e1")),
        get(&format!("{BUDGETS}/b")),
        eviction("e2", Value::Null),
        eviction("nobody", Value::Null),
        delete(&format!("{BUDGETS}/b"), Value::Null),
        eviction("e2", Value::Null),
    ]
}

fn patches() -> Vec<Step> {
    vec![
        patch("/api/v1/nodes/n1", "text/plain", json!({})),
        patch("/api/v1/nodes/n1", JSON, json!({ "no": "list" })),
        patch(
            "/api/v1/nodes/n1",
            STRATEGIC,
            json!({ "spec": { "taints": [{ "key": "a", "effect": "NoSchedule" }] } }),
        ),
        patch(
            "/api/v1/nodes/n1",
            STRATEGIC,
            json!({ "spec": { "taints": [{ "key": "b", "effect": "NoSchedule" }] } }),
        ),
        patch("/api/v1/nodes/n1", MERGE, json!({ "spec": { "taints": null } })),
        patch("/api/v1/nodes/n1", MERGE, json!({ "metadata": { "labels": { "pool": null, "zone": "z" } } })),
    ]
}

/// A wish is taken back, if it is this one.
fn taken_back(wish: &str) -> Value {
    let path = "/metadata/annotations/reserve~1keep";
    json!([{ "op": "test", "path": path, "value": wish }, { "op": "remove", "path": path }])
}

fn workloads() -> Vec<Step> {
    let deployment = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" }, "spec": {
        "selector": { "matchLabels": { "app": "web" } },
        "template": { "metadata": { "labels": { "app": "web" } }, "spec": { "containers": [{ "name": "c", "image": "i" }] } } } });
    let at = format!("{DEPLOYMENTS}/web");
    vec![
        post(DEPLOYMENTS, deployment.clone()).save("web"),
        post(DEPLOYMENTS, with(deployment, "/spec/selector/matchLabels", json!({ "app": "other" }))),
        get(&format!("{at}/scale")),
        patch(&format!("{at}/scale"), MERGE, json!({ "spec": { "replicas": 3 } })),
        patch(&format!("{at}/scale"), MERGE, json!({ "spec": { "replicas": -1 } })),
        put(
            &format!("{at}/scale"),
            json!({ "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": { "name": "web", "namespace": "default", "resourceVersion": "1" }, "spec": { "replicas": 4 } }),
        ),
        patch(&at, MERGE, json!({ "metadata": { "annotations": { "reserve/keep": "5m#a1" } } })),
        patch(&at, JSON, taken_back("5m#a2")),
        patch(&at, JSON, taken_back("5m#a1")),
        patch(&at, JSON, taken_back("5m#a1")),
        patch(&at, MERGE, json!({ "spec": { "replicas": 2 } })),
        patch(
            &format!("{at}/status"),
            MERGE,
            json!({ "status": { "replicas": 2, "observedGeneration": 3 } }),
        ),
        patch(&at, MERGE, json!({ "spec": { "replicas": 2 } })).save("web2"),
        delete(&at, json!({ "propagationPolicy": "Foreground" })),
        get(&at),
        patch(&at, JSON, json!([{ "op": "remove", "path": "/metadata/finalizers" }])),
        get(&at),
        get("/apis/apps/v1/deployments?watch=1&timeoutSeconds=1&resourceVersion={web.rv}"),
    ]
}

fn leases() -> Vec<Step> {
    let lease = json!({ "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": { "name": "l" }, "spec": { "holderIdentity": "a", "leaseDurationSeconds": 15 } });
    let at = format!("{LEASES}/l");
    vec![
        patch(&at, MERGE, lease.clone()),
        post(LEASES, lease.clone()).save("l"),
        put(
            &at,
            with(
                with(lease.clone(), "/spec/holderIdentity", json!("b")),
                "/metadata/resourceVersion",
                json!("{l.rv}"),
            ),
        )
        .save("l2"),
        put(
            &at,
            with(
                with(lease.clone(), "/spec/holderIdentity", json!("c")),
                "/metadata/resourceVersion",
                json!("{l.rv}"),
            ),
        ),
        put(&at, with(lease, "/spec/holderIdentity", json!("d"))),
        get(&at),
        delete(&at, Value::Null),
    ]
}

fn events() -> Vec<Step> {
    let new = json!({ "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": { "name": "e.1", "namespace": "default" }, "action": "Binding",
        "eventTime": "2026-11-17T08:00:00.000001Z", "note": "told", "reason": "Scheduled", "reportingController": "s", "reportingInstance": "s-1", "type": "Normal",
        "regarding": { "apiVersion": "v1", "kind": "Pod", "name": "p1", "namespace": "default", "uid": "{p1.uid}" } });
    let core = json!({ "apiVersion": "v1", "kind": "Event", "metadata": { "name": "e.2", "namespace": "default" }, "message": "said", "reason": "Other", "type": "Warning",
        "involvedObject": { "kind": "Pod", "name": "p2", "namespace": "default" }, "source": { "component": "c" } });
    vec![
        post("/apis/events.k8s.io/v1/namespaces/default/events", new.clone()),
        post("/apis/events.k8s.io/v1/namespaces/default/events", new),
        post("/api/v1/namespaces/default/events", core),
        get("/api/v1/namespaces/default/events/e.1"),
        get("/apis/events.k8s.io/v1/namespaces/default/events/e.2"),
        get(
            "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dp1,involvedObject.kind%3DPod",
        ),
        get("/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector=reason%3DOther"),
    ]
}

fn lists() -> Vec<Step> {
    let mut steps: Vec<Step> = ["l1", "l2", "l3", "l4"]
        .map(|name| post(PODS, with(pod(name), "/metadata/labels", json!({ "list": "yes" }))))
        .into();
    let metadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
    let listed = |more: &str| get(&format!("/api/v1/pods?labelSelector=list%3Dyes&{more}"));
    steps.extend([
        listed(""),
        listed("limit=3").save("page"),
        delete(&format!("{PODS}/l4"), Value::Null),
        listed("limit=3&continue={page.continue}"),
        listed("").accept(metadata),
        get(&format!("{PODS}/l1")).accept("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"),
        get(&format!("{PODS}?fieldSelector=metadata.name%3Dl1")),
        get(&format!("{PODS}?labelSelector=list,app%21%3Dx")),
        get(&format!("{PODS}?fieldSelector=spec.colour%3Dred")),
        get(&format!("{PODS}?labelSelector=%3D%3D")),
        get("/api/v1/namespaces/nowhere/pods"),
        listed("watch=1&timeoutSeconds=1&resourceVersion=0"),
        listed("watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true").accept("application/json"),
    ]);
    steps
}

fn refusals() -> Vec<Step> {
    let space = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "going" } });
    vec![
        post("/api/v1/namespaces/nowhere/pods", pod("x")),
        post(PODS, with(pod("x"), "/metadata/namespace", json!("other"))),
        post(PODS, pod("Bad_Name")),
        post(PODS, with(pod("x"), "/metadata", json!({}))),
        post(PODS, with(pod("x"), "/spec/containers", json!([]))),
        post("/api/v1/namespaces", space),
        delete("/api/v1/namespaces/going", Value::Null),
        post("/api/v1/namespaces/going/pods", pod("x")),
        put("/api/v1/nodes", json!({})),
        get("/apis/apps/v1/dragons"),
        post(&format!("{PODS}/p1/dance"), json!({})),
    ]
}

fn reviews() -> Vec<Step> {
    let access = json!({ "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": { "resourceAttributes": { "verb": "patch", "resource": "nodes" } } });
    vec![post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", access)]
}
