//! The workloads of a drawn cluster.

use super::drawn::{Filler, WaitingPod, WorkloadKind};
use super::ground::{Ground, REGION, WORKLOAD};
use reserve_tests::control_plane::{WorkloadShape, bare_pod, deployment, job, stateful_set};
use serde_json::{Value, json};
use std::time::Duration;

fn tenths(cpu: u32) -> String {
    format!("{}m", cpu * 100)
}

/// A workload that fills a node.
pub(super) fn filler(ground: &Ground, at: usize, drawn: &Filler) -> WorkloadShape {
    let name = format!("w{at}");
    let shape = if drawn.is_stateful { stateful_set(&name) } else { deployment(&name) };
    let mut shape =
        shape.replicas(drawn.replicas).cpu(&tenths(drawn.cpu)).memory(&format!("{}Gi", drawn.memory));
    shape = shape.pod_label("crowd", drawn.crowd).pod_field("nodeSelector", json!({ REGION: ground.name }));
    if drawn.is_stateful {
        shape = shape.field("podManagementPolicy", json!("Parallel"));
    }
    if drawn.has_port {
        let requests = json!({ "cpu": tenths(drawn.cpu), "memory": format!("{}Gi", drawn.memory) });
        shape = shape.pod_field("containers", json!([container(&name, &requests, true)]));
    }
    if drawn.is_important {
        shape = shape.pod_field("priorityClassName", json!("fixes-important"));
    }
    if drawn.grace > 0 { shape.terminate_after(Duration::from_secs(drawn.grace)) } else { shape }
}

fn container(name: &str, requests: &Value, has_port: bool) -> Value {
    let ports = if has_port { json!([{ "containerPort": 80, "hostPort": 8080 }]) } else { json!([]) };
    json!({ "name": name, "image": "nginx", "resources": { "requests": requests }, "ports": ports })
}

/// The pod that waits. Of two containers the first asks for most.
pub(super) fn waiting_pod(ground: &Ground, drawn: &WaitingPod) -> WorkloadShape {
    let shape = match drawn.kind {
        WorkloadKind::Deployment => deployment(WORKLOAD),
        WorkloadKind::StatefulSet => stateful_set(WORKLOAD),
        WorkloadKind::Job => job(WORKLOAD).complete_after(Duration::from_secs(600)),
        WorkloadKind::Bare => bare_pod(WORKLOAD),
    };
    let small = drawn.containers - 1;
    let requests = json!({ "cpu": tenths(drawn.cpu - small as u32), "memory": format!("{}Mi", drawn.memory * 1024 - 64 * small as u32) });
    let mut containers = vec![container("main", &requests, drawn.has_port)];
    containers
        .extend((0..small).map(|_| container("side", &json!({ "cpu": "100m", "memory": "64Mi" }), false)));
    let mut shape = shape.pod_label("role", WORKLOAD).pod_field("containers", Value::Array(containers));
    for (field, value) in &drawn.fields {
        shape = shape.pod_field(field, value.clone());
    }
    let mut selector = json!({ REGION: ground.name });
    if drawn.wants_ssd {
        selector["disk"] = json!("ssd");
    }
    shape = shape.pod_field("nodeSelector", selector);
    if let Some(class) = drawn.class {
        shape = shape.pod_field("priorityClassName", json!(class));
    }
    shape
}
