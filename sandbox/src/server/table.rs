//! The columns and cells of tables: for pods, nodes, Deployments, ReplicaSets, StatefulSets and events; other kinds have only
//! name and age.

use super::render::ago;
use crate::resources::Resource;
use crate::value::{condition, first, is_deleting, is_true, list, name, number, pairs, text};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The columns of a kind. Those after the first `|`, up to a second one, are only for `-o wide`.
fn titles(resource: &Resource) -> &'static str {
    match resource.plural {
        "pods" => "Name Ready Status Restarts Age | IP Node Nominated_Node Readiness_Gates",
        "nodes" => "Name Status Roles Age Version | Internal-IP External-IP OS-Image",
        "deployments" => "Name Ready Up-to-date Available Age | Containers Images Selector",
        "replicasets" => "Name Desired Current Ready Age | Containers Images Selector",
        "statefulsets" => "Name Ready Age | Containers Images",
        "events" => "Last_Seen Type Reason Object | Source Count | Message",
        _ => "Name Age",
    }
}

pub(super) fn columns(resource: &Resource) -> Vec<Value> {
    let mut priority = 0;
    let mut columns = Vec::new();
    for title in titles(resource).split(' ') {
        if title == "|" {
            priority = 1 - priority;
            continue;
        }
        let format = if title == "Name" { "name" } else { "" };
        let title = title.replace('_', " ");
        columns.push(json!({ "name": title, "type": "string", "format": format, "description": "", "priority": priority }));
    }
    columns
}

pub(super) fn cells(resource: &Resource, object: &Value, now: Timestamp) -> Vec<Value> {
    let count = |pointer: &str| number(object, pointer).unwrap_or(0).to_string();
    let ready = || format!("{}/{}", count("/status/readyReplicas"), count("/spec/replicas"));
    let of_template = |field: &str| {
        let all = list(object, "/spec/template/spec/containers").iter().map(|one| text(one, field));
        all.collect::<Vec<_>>().join(",")
    };
    let (named, age) = (name(object).to_owned(), ago(text(object, "/metadata/creationTimestamp"), now));
    let (containers, images) = (of_template("/name"), of_template("/image"));
    let selector = pairs(&object["spec"]["selector"]["matchLabels"]);
    let cells = match resource.plural {
        "pods" => pod(object, named, age),
        "nodes" => node(object, named, age),
        "events" => event(object, now),
        "deployments" => {
            let (updated, available) = (count("/status/updatedReplicas"), count("/status/availableReplicas"));
            vec![named, ready(), updated, available, age, containers, images, selector]
        }
        "replicasets" => {
            let counts = ["/spec/replicas", "/status/replicas", "/status/readyReplicas"].map(count);
            [vec![named], counts.to_vec(), vec![age, containers, images, selector]].concat()
        }
        "statefulsets" => vec![named, ready(), age, containers, images],
        _ => vec![named, age],
    };
    cells.into_iter().map(Value::String).collect()
}

fn or_none(text: &str) -> String {
    if text.is_empty() { "<none>".into() } else { text.into() }
}

fn pod(pod: &Value, named: String, age: String) -> Vec<String> {
    let statuses = list(pod, "/status/containerStatuses");
    let ready = statuses.iter().filter(|one| is_true(one, "/ready")).count();
    let restarts: i64 = statuses.iter().filter_map(|one| number(one, "/restartCount")).sum();
    let mut reasons = statuses.iter().map(|one| text(one, "/state/waiting/reason"));
    let waiting = reasons.find(|reason| !reason.is_empty());
    let is_gated = !list(pod, "/spec/schedulingGates").is_empty();
    let status = match waiting {
        _ if is_deleting(pod) => "Terminating",
        _ if is_gated => "SchedulingGated",
        Some(reason) => reason,
        None => first(pod, &["/status/reason", "/status/phase"]),
    };
    let ready = format!("{ready}/{}", list(pod, "/spec/containers").len());
    let place = ["/status/podIP", "/spec/nodeName", "/status/nominatedNodeName", "/none"]
        .map(|at| or_none(text(pod, at)));
    [vec![named, ready, status.to_owned(), restarts.to_string(), age], place.to_vec()].concat()
}

fn node(node: &Value, named: String, age: String) -> Vec<String> {
    let ready = match condition(node, "Ready") {
        "True" => "Ready",
        "" => "Unknown",
        _ => "NotReady",
    };
    let cordoned = if is_true(node, "/spec/unschedulable") { ",SchedulingDisabled" } else { "" };
    let address = |kind: &str| {
        let found = list(node, "/status/addresses").iter().find(|one| text(one, "/type") == kind);
        or_none(found.map_or("", |one| text(one, "/address")))
    };
    let about = |field: &str| text(node, &format!("/status/nodeInfo/{field}")).to_owned();
    let (status, version) = (format!("{ready}{cordoned}"), about("kubeletVersion"));
    vec![
        named,
        status,
        or_none(""),
        age,
        version,
        address("InternalIP"),
        address("ExternalIP"),
        about("osImage"),
    ]
}

fn event(event: &Value, now: Timestamp) -> Vec<String> {
    let last = first(event, &["/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"]);
    let about = format!(
        "{}/{}",
        text(event, "/involvedObject/kind").to_lowercase(),
        text(event, "/involvedObject/name")
    );
    let source = first(event, &["/source/component", "/reportingComponent"]).to_owned();
    let count = number(event, "/count").unwrap_or(1).to_string();
    let said = |at: &str| text(event, at).to_owned();
    vec![ago(last, now), said("/type"), said("/reason"), about, source, count, said("/message")]
}
