//! Compares our sums for every golden vector with the sums of kube-scheduler. `common/vectors/README.md` says how the vectors are
//! made.

use std::borrow::Cow;

use serde_json::Value;

use crate::model::requests::{
    Container, ContainerStatus, NonZeroRequests, PodActual, ResourceList, Sources, pod_requests,
};
use crate::model::resources::{ResourceName, Resources};

const VECTORS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/requests.jsonl"));

/// The file is generated. A generator without pods must not look like success.
const VECTORS_MIN: usize = 500;

#[test]
fn agrees_with_kube_scheduler() {
    let mut compared = 0;
    for line in VECTORS.lines() {
        let vector: Value = serde_json::from_str(line).expect("a vector is JSON");
        let name = &vector["name"];
        let requests = pod_requests(&sources(&vector["pod"])).expect("a pod that Kubernetes accepts");
        assert_eq!(requests.incoming, resources(&vector["incoming"]), "incoming: {name}");
        assert_eq!(*requests.counted(), resources(&vector["counted"]), "counted: {name}");
        assert_eq!(
            requests.non_zero_incoming,
            non_zero(&vector["non_zero_incoming"]),
            "non-zero incoming: {name}"
        );
        assert_eq!(
            requests.non_zero_counted,
            non_zero(&vector["non_zero_counted"]),
            "non-zero counted: {name}"
        );
        compared += 1;
    }
    assert!(compared >= VECTORS_MIN, "only {compared} vectors");
}

fn resources(expected: &Value) -> Resources {
    let number = |field: &str| expected[field].as_i64().expect("a number");
    let mut resources = Resources::default();
    resources.set(ResourceName::Cpu, number("cpu"));
    resources.set(ResourceName::Memory, number("memory"));
    resources.set(ResourceName::EphemeralStorage, number("ephemeral_storage"));
    resources.set(ResourceName::Pods, 1);
    for (name, amount) in expected["scalars"].as_object().into_iter().flatten() {
        resources.set(ResourceName::from(name.as_str()), amount.as_i64().expect("a number"));
    }
    resources
}

fn non_zero(expected: &Value) -> NonZeroRequests {
    let number = |field: &str| expected[field].as_i64().expect("a number");
    NonZeroRequests { cpu: number("cpu"), memory: number("memory") }
}

fn sources(pod: &Value) -> Sources<'_> {
    let (spec, status) = (&pod["spec"], &pod["status"]);
    Sources {
        containers: items(&spec["containers"]).map(container).collect(),
        init_containers: items(&spec["initContainers"]).map(container).collect(),
        overhead: list(&spec["overhead"]).unwrap_or_default(),
        pod_level: list(&spec["resources"]["requests"]),
        container_statuses: items(&status["containerStatuses"]).map(container_status).collect(),
        init_container_statuses: items(&status["initContainerStatuses"]).map(container_status).collect(),
        pod_allocated: list(&status["allocatedResources"]),
        pod_actual: status["resources"]
            .as_object()
            .map(|_| PodActual { requests: list(&status["resources"]["requests"]) }),
        resize_infeasible: items(&status["conditions"])
            .find(|condition| condition["type"] == "PodResizePending")
            .is_some_and(|condition| condition["reason"] == "Infeasible"),
    }
}

fn container(container: &Value) -> Container<'_> {
    Container {
        name: text(&container["name"]),
        requests: list(&container["resources"]["requests"]).unwrap_or_default(),
        restart_always: container["restartPolicy"] == "Always",
    }
}

fn container_status(status: &Value) -> ContainerStatus<'_> {
    ContainerStatus {
        name: text(&status["name"]),
        allocated: list(&status["allocatedResources"]),
        actual: list(&status["resources"]["requests"]),
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn list(value: &Value) -> Option<ResourceList<'_>> {
    let entries = value.as_object()?;
    Some(ResourceList(entries.iter().map(|(name, quantity)| (name.into(), text(quantity))).collect()))
}

fn text(value: &Value) -> Cow<'_, str> {
    match value.as_str() {
        Some(text) => text.into(),
        None => value.to_string().into(),
    }
}
