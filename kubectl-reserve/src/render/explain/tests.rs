//! Golden output of `explain`, from the same books and filters as the daemon's.

use super::{View, render};
use crate::explain::{Input, Options, Rules, analyse};
use common::api::node::node;
use common::api::pod::pod;
use common::api::workload::workload;
use common::cluster::{Cluster, Event, Seen};
use common::model::Pod;
use common::model::owner::OwnerKind;
use jiff::Timestamp;
use serde_json::{Value, json};

const OWNER: &str = "11111111-0000-4000-8000-000000000001";
const NOBODY: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";

fn now() -> Timestamp {
    "2026-11-16T08:10:00Z".parse().unwrap()
}

fn node_json(name: &str, cpu: &str, more: &Value) -> Value {
    let mut json = json!({
        "metadata": { "name": name, "uid": name },
        "status": { "allocatable": { "cpu": cpu, "memory": "8Gi", "pods": "110" } },
    });
    for (pointer, value) in more.as_object().unwrap() {
        match pointer.as_str() {
            "annotations" => json["metadata"]["annotations"] = value.clone(),
            _ => json["spec"][pointer] = value.clone(),
        }
    }
    json
}

fn pod_json(name: &str, cpu: &str, node: Option<&str>) -> Value {
    json!({
        "metadata": { "name": name, "namespace": "default", "uid": name, "creationTimestamp": "2026-11-16T08:09:30Z" },
        "spec": { "nodeName": node, "schedulerName": "reserve-scheduler",
                  "containers": [{ "name": "c", "resources": { "requests": { "cpu": cpu, "memory": "1Gi" } } }] },
        "status": { "phase": "Pending", "conditions": [
            { "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/N nodes are available: …." }] },
    })
}

/// Five nodes, each with another reason, and two alike.
fn cluster() -> Cluster {
    let kept = json!({ "annotations": { format!("reserve.cpu/{NOBODY}"): "1", format!("reserve.cpu/{OWNER}"): "2500m" } });
    let tainted = json!({ "taints": [{ "key": "dedicated", "value": "db", "effect": "NoSchedule" }] });
    let nodes = [
        node_json("kept", "4", &kept),
        node_json("small-1", "1500m", &json!({})),
        node_json("small-2", "1", &json!({})),
        node_json("cordoned", "8", &json!({ "unschedulable": true })),
        node_json("tainted", "1", &tainted),
        node_json("odd", "lots", &json!({})),
    ];
    let web = json!({ "metadata": { "name": "web", "namespace": "shop", "uid": OWNER } });
    let mut cluster = Cluster::default();
    let live = nodes.iter().map(|json| node(&json.to_string()).unwrap()).collect();
    cluster.apply(Event::Nodes(Seen::Relisted(live)));
    let busy = pod(&pod_json("busy", "250m", Some("small-1")).to_string()).unwrap();
    cluster.apply(Event::Pods(Seen::Relisted(vec![busy])));
    let web = workload(OwnerKind::Deployment, &web.to_string()).unwrap();
    cluster.apply(Event::Workloads(OwnerKind::Deployment, Seen::Relisted(vec![web])));
    cluster
}

fn explain(pod: &Pod, obeyed: bool) -> String {
    let rules = Rules::new(move |_| obeyed);
    let input = Input {
        pod,
        source: None,
        now: now(),
        rules: &rules,
        options: Options::default(),
        context: None,
        last_try: None,
        autoscaler: &[],
        priority_classes: &[],
    };
    render(&analyse(&mut cluster(), &input), &View::default())
}

fn waiting(cpu: &str) -> Pod {
    pod(&pod_json("web-1", cpu, None).to_string()).unwrap()
}

#[test]
fn every_node_is_counted_once_with_its_numbers() {
    insta::assert_snapshot!(explain(&waiting("2"), true));
}

#[test]
fn a_scheduler_that_does_not_obey_sees_room_where_it_is_kept() {
    insta::assert_snapshot!(explain(&waiting("2"), false));
}

#[test]
fn what_is_not_obeyed_is_still_shown() {
    insta::assert_snapshot!(explain(&waiting("5"), false));
}

#[test]
fn a_pod_that_asks_for_something_not_served_is_told_so() {
    let mut json = pod_json("web-1", "1", None);
    json["spec"]["resourceClaims"] = json!([{ "name": "gpu" }]);
    insta::assert_snapshot!(explain(&pod(&json.to_string()).unwrap(), true));
}
