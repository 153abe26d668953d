//! The rows that people look at: pods, nodes, deployments, replica sets and stateful sets, and events; others by name.

use super::show::{ago, created};
use crate::resources::Resource;
use crate::value::{condition, is_deleting, is_true, list, name, number, text};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The columns of a kind. Those after `|` are for `-o wide`.
fn titles(resource: &Resource) -> &'static str {
    match resource.plural {
        "pods" => "Name Ready Status Restarts Age | IP Node Nominated_Node Readiness_Gates",
        "nodes" => {
            "Name Status Roles Age Version | Internal-IP External-IP OS-Image Kernel-Version Container-Runtime"
        }
        "deployments" => "Name Ready Up-to-date Available Age | Containers Images Selector",
        "replicasets" => "Name Desired Current Ready Age | Containers Images Selector",
        "statefulsets" => "Name Ready Age | Containers Images",
        "events" => "Last_Seen Type Reason Object | Subobject Source First_Seen Count | Message",
        "namespaces" => "Name Status Age",
        "poddisruptionbudgets" => "Name Min_Available Max_Unavailable Allowed_Disruptions Age",
        "leases" => "Name Holder Age",
        _ => "Name Age",
    }
}

/// The definitions of the columns of a kind.
pub(super) fn columns(resource: &Resource) -> Vec<Value> {
    let mut priority = 0;
    let mut columns = Vec::new();
    for title in titles(resource).split(' ') {
        if title == "|" {
            priority = 1 - priority;
            continue;
        }
        let format = if title == "Name" { "name" } else { "" };
        columns.push(json!({
            "name": title.replace('_', " "), "type": "string", "format": format, "description": "", "priority": priority,
        }));
    }
    columns
}

/// The cells of one object.
pub(super) fn cells(resource: &Resource, object: &Value, now: Timestamp) -> Vec<Value> {
    let count = |pointer: &str| number(object, pointer).unwrap_or(0);
    let of = |ready: i64, all: i64| json!(format!("{ready}/{all}"));
    let (named, age) = (json!(name(object)), created(object, now));
    let template = || [joined(object, "name"), joined(object, "image"), selector(object)];
    let mut cells = match resource.plural {
        "pods" => return pod(object, named, age),
        "nodes" => return node(object, named, age),
        "events" => return event(object, now),
        "deployments" => {
            let ready = of(count("/status/readyReplicas"), count("/spec/replicas"));
            vec![
                named,
                ready,
                json!(count("/status/updatedReplicas")),
                json!(count("/status/availableReplicas")),
                age,
            ]
        }
        "replicasets" => {
            vec![
                named,
                json!(count("/spec/replicas")),
                json!(count("/status/replicas")),
                json!(count("/status/readyReplicas")),
                age,
            ]
        }
        "statefulsets" => vec![named, of(count("/status/readyReplicas"), count("/spec/replicas")), age],
        "namespaces" => vec![named, json!(text(object, "/status/phase")), age],
        "poddisruptionbudgets" => {
            let limit = |field: &str| match &object["spec"][field] {
                Value::Null => json!("N/A"),
                value => json!(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
            };
            vec![
                named,
                limit("minAvailable"),
                limit("maxUnavailable"),
                json!(count("/status/disruptionsAllowed")),
                age,
            ]
        }
        "leases" => vec![named, json!(text(object, "/spec/holderIdentity")), age],
        _ => vec![named, age],
    };
    match resource.plural {
        "deployments" | "replicasets" => cells.extend(template()),
        "statefulsets" => cells.extend(template().into_iter().take(2)),
        _ => {}
    }
    cells
}

fn or_none(text: &str) -> Value {
    if text.is_empty() { "<none>".into() } else { text.into() }
}

fn joined(object: &Value, field: &str) -> Value {
    let containers = list(object, "/spec/template/spec/containers").iter();
    containers.map(|one| one[field].as_str().unwrap_or("")).collect::<Vec<_>>().join(",").into()
}

fn selector(object: &Value) -> Value {
    let labels = object["spec"]["selector"]["matchLabels"].as_object().cloned().unwrap_or_default();
    labels
        .iter()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or("")))
        .collect::<Vec<_>>()
        .join(",")
        .into()
}

fn pod(pod: &Value, named: Value, age: Value) -> Vec<Value> {
    let statuses = list(pod, "/status/containerStatuses");
    let ready = statuses.iter().filter(|one| is_true(one, "/ready")).count();
    let restarts: i64 = statuses.iter().filter_map(|one| number(one, "/restartCount")).sum();
    let waiting =
        statuses.iter().map(|one| text(one, "/state/waiting/reason")).find(|reason| !reason.is_empty());
    let reason = Some(text(pod, "/status/reason")).filter(|reason| !reason.is_empty());
    let gated = condition(pod, "PodScheduled") == "False" && !list(pod, "/spec/schedulingGates").is_empty();
    let status = match (is_deleting(pod), waiting.or(reason)) {
        (true, _) => "Terminating",
        _ if gated => "SchedulingGated",
        (_, Some(reason)) => reason,
        _ => text(pod, "/status/phase"),
    };
    let ready = json!(format!("{ready}/{}", list(pod, "/spec/containers").len()));
    let place = ["/status/podIP", "/spec/nodeName", "/status/nominatedNodeName"]
        .map(|pointer| or_none(text(pod, pointer)));
    [vec![named, ready, json!(status), json!(restarts.to_string()), age], place.to_vec(), vec![or_none("")]]
        .concat()
}

fn node(node: &Value, named: Value, age: Value) -> Vec<Value> {
    let mut status = match condition(node, "Ready") {
        "True" => "Ready",
        "" => "Unknown",
        _ => "NotReady",
    }
    .to_owned();
    if is_true(node, "/spec/unschedulable") {
        status.push_str(",SchedulingDisabled");
    }
    let labels = node["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    let roles: Vec<&str> =
        labels.keys().filter_map(|key| key.strip_prefix("node-role.kubernetes.io/")).collect();
    let address = |kind: &str| {
        let all = list(node, "/status/addresses").iter();
        or_none(
            all.filter(|one| text(one, "/type") == kind)
                .map(|one| text(one, "/address"))
                .next()
                .unwrap_or(""),
        )
    };
    let about = |field: &str| json!(text(node, &format!("/status/nodeInfo/{field}")));
    vec![
        named,
        json!(status),
        or_none(&roles.join(",")),
        age,
        about("kubeletVersion"),
        address("InternalIP"),
        address("ExternalIP"),
        about("osImage"),
        about("kernelVersion"),
        about("containerRuntimeVersion"),
    ]
}

fn event(event: &Value, now: Timestamp) -> Vec<Value> {
    let first_of = |fields: &[&str]| {
        fields.iter().map(|field| text(event, field)).find(|text| !text.is_empty()).unwrap_or("").to_owned()
    };
    let last = first_of(&[
        "/series/lastObservedTime",
        "/lastTimestamp",
        "/eventTime",
        "/metadata/creationTimestamp",
    ]);
    let first = first_of(&["/firstTimestamp", "/eventTime", "/metadata/creationTimestamp"]);
    let about = format!(
        "{}/{}",
        text(event, "/involvedObject/kind").to_lowercase(),
        text(event, "/involvedObject/name")
    );
    let source = first_of(&["/source/component", "/reportingComponent"]);
    let count = number(event, "/series/count").or_else(|| number(event, "/count")).unwrap_or(1);
    vec![
        json!(ago(&last, now)),
        json!(text(event, "/type")),
        json!(text(event, "/reason")),
        json!(about),
        json!(text(event, "/involvedObject/fieldPath")),
        json!(source),
        json!(ago(&first, now)),
        json!(count),
        json!(text(event, "/message")),
    ]
}
