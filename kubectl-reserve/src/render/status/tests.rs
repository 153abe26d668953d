//! Golden output of `status`, from values.

use super::{Installation, StatusReport};
use crate::cluster_data::{ClusterData, ClusterDataBuilder, Resource};
use crate::print::Printable;
use crate::print::schema_check::assert_valid;
use serde_json::{Value, json};

const OWNER: &str = "11111111-0000-4000-8000-000000000001";
pub(crate) const NOW: &str = "2026-11-16T08:10:00Z";

fn node(name: &str, cpu: &str, annotations: &Value) -> Value {
    json!({ "metadata": { "name": name, "uid": name, "resourceVersion": "50", "annotations": annotations },
            "status": { "allocatable": { "cpu": cpu, "memory": "64Gi", "pods": "110" } } })
}

fn pod(name: &str, scheduler: &str, node: Option<&str>) -> Value {
    let container = json!({ "name": "c", "resources": { "requests": { "cpu": "1500m" } } });
    json!({ "metadata": { "name": name, "namespace": "shop", "uid": name, "resourceVersion": "60" },
            "spec": { "schedulerName": scheduler, "nodeName": node, "containers": [container] } })
}

fn lease(name: &str, schedulers: &str, version: &str, seen: &str, renewed: &str) -> Value {
    json!({ "metadata": { "name": format!("reserve-{name}"), "namespace": "kube-reserve", "annotations": {
                "reserve/seen-nodes": seen, "reserve/seen-pods": "60", "reserve/schedulers": schedulers,
                "reserve/extends": "", "reserve/restricted": (seen == "49").to_string(), "reserve/version": version } },
            "spec": { "holderIdentity": name, "leaseDurationSeconds": 15, "renewTime": renewed } })
}

/// A cluster with every state of a reservation, and live and lapsed replicas.
pub(crate) fn data() -> ClusterData {
    let info = |expires: &str| {
        let owner = json!({ "kind": "Deployment", "namespace": "shop", "name": "web", "uid": OWNER });
        json!({ "v": 1, "owner": owner, "priority": 0, "created": "2026-11-16T08:09:12Z", "expires": expires,
                "request": "r1", "by": "admin", "reason": "", "placement": "wait" })
        .to_string()
    };
    let reserved = json!({
        format!("reserve.cpu/{OWNER}.7f3a0c"): "3", format!("reserve.info/{OWNER}.7f3a0c"): info("2026-11-16T08:19:12Z"),
        format!("reserve.cpu/{OWNER}.91c0aa"): "1", format!("reserve.info/{OWNER}.91c0aa"): info("2026-11-16T08:09:59Z"),
        "reserve.cpu/a8f6f901-47c9-4475-b1f4-cac44597e173": "500m",
        "reserve.cpu/oops": "1",
    });
    let event = json!({ "involvedObject": { "kind": "Deployment", "namespace": "shop", "name": "web" },
        "reason": "ReservationLost", "reportingComponent": "reserve-daemon", "eventTime": "2026-11-16T08:05:00Z",
        "message": format!("The reservation {OWNER}.0a1b2c on node node-2 was removed by somebody else") });
    let mut builder = ClusterDataBuilder::default();
    let mut add = |resource, json: &Value| builder.add(resource, &json.to_string()).unwrap();
    add(Resource::Nodes, &node("node-1", "8", &json!({})));
    add(Resource::Nodes, &node("node-2", "4", &reserved));
    add(Resource::Pods, &pod("web-1", "reserve-scheduler", Some("node-2")));
    add(Resource::Pods, &pod("web-2", "reserve-scheduler", None));
    add(Resource::Pods, &pod("batch-1", "default-scheduler", Some("node-1")));
    add(
        Resource::Replicas,
        &lease("reserve-daemon-6d5f9c7b8-4xk2p", "reserve-scheduler", "0.1.0", "50", "2026-11-16T08:09:58Z"),
    );
    add(
        Resource::Replicas,
        &lease("reserve-daemon-6d5f9c7b8-zz9q7", "", "0.1.0", "49", "2026-11-16T08:09:57Z"),
    );
    add(
        Resource::Replicas,
        &lease("reserve-daemon-55b7dcd7c4-8f928", "", "0.0.9", "12", "2026-11-16T08:00:00Z"),
    );
    add(Resource::Events, &event);
    builder.build(NOW.parse().unwrap(), "shop")
}

pub(crate) fn status() -> StatusReport {
    let status = StatusReport::of(&mut data(), Some("reserve-daemon-6d5f9c7b8-4xk2p"));
    StatusReport { client: "0.1.0".into(), ..status }
}

#[test]
fn the_table_says_who_runs_who_enforces_and_what_is_short() {
    insta::assert_snapshot!("status", status().table(false, true));
    assert!(status().table(false, true).lines().all(|line| line.chars().count() <= 80));
    insta::assert_snapshot!("status_wide", status().table(true, true));
}

#[test]
fn the_document_has_the_same_numbers() {
    let document = status().document().unwrap();
    assert_valid(&document);
    insta::assert_snapshot!("status_json", serde_json::to_string_pretty(&document).unwrap());
    assert_eq!(status().names()[0], "lease.coordination.k8s.io/reserve-reserve-daemon-55b7dcd7c4-8f928");
}

#[test]
fn without_a_daemon_or_rights_the_rest_is_shown() {
    let mut builder = ClusterDataBuilder::default();
    builder.add_unreadable(Resource::Nodes).unwrap();
    builder.add_unreadable(Resource::Replicas).unwrap();
    let pods = pod("web-2", "reserve-scheduler", None).to_string();
    builder.add(Resource::Pods, &pods).unwrap();
    let mut data = builder.build(NOW.parse().unwrap(), "shop");
    insta::assert_snapshot!("status_poor", StatusReport::of(&mut data, None).table(false, true));
}

#[test]
fn not_installed_and_not_ready_are_not_the_same() {
    let why = "pod reserve-daemon-x ImagePullBackOff: Back-off pulling image".to_owned();
    let not_ready = Installation::NotReady { namespace: "kube-reserve".into(), why };
    let first = |status: &StatusReport| {
        assert_valid(&status.document().unwrap());
        let text = status.table(false, true);
        text.split("\n\n").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let none = |installation| StatusReport { replicas: vec![], installation, ..status() };
    assert!(first(&none(Installation::Missing)).starts_with("DAEMON not installed: "));
    let installed = "installed in kube-reserve, no replica ready: pod reserve-daemon-x ImagePullBackOff";
    assert!(first(&none(not_ready.clone())).contains(installed));
    assert!(first(&none(Installation::Unknown)).contains("Whether the daemon is installed is unknown"));
    let mut lapsed = StatusReport { installation: not_ready, ..status() };
    lapsed.replicas.iter_mut().for_each(|replica| replica.is_live = false);
    assert!(
        first(&lapsed).contains("0 of 3 replicas live") && first(&lapsed).contains(installed),
        "{}",
        first(&lapsed)
    );
}
