//! Makes pods from the pod templates of manifests, with the defaults that the API server fills in.

use super::strict;
use crate::cluster_data::diagnostics::PriorityClass;
use crate::error::Failure;
use common::api::names::DEFAULT_SCHEDULER_NAME;
use common::api::pod::{pod, request_limits};
use common::model::Pod;
use common::model::chain::chain;
use common::model::owner::OwnerKind;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The pod of a manifest, and how many of it the manifest asks for.
#[derive(Clone, Debug)]
pub(crate) struct ManifestPod {
    /// The manifest: `Deployment/web`, or `Pod/web-0`.
    pub(crate) from: String,
    /// The pod as the API server would store it.
    pub(crate) source: Value,
    pub(crate) pod: Pod,
    /// How many pods the manifest asks for.
    pub(crate) replicas: u32,
}

/// The pods of the documents. Documents without a pod template are ignored.
pub(crate) fn manifest_pods(
    documents: &[Value],
    namespace: &str,
    classes: &BTreeMap<String, PriorityClass>,
) -> Result<Vec<ManifestPod>, Failure> {
    let mut all = Vec::new();
    for document in documents {
        if let Some(items) = document.get("items").and_then(Value::as_array) {
            all.extend(manifest_pods(items, namespace, classes)?);
        } else if let Some(found) = manifest_pod(document, namespace, classes)? {
            all.push(found);
        }
    }
    Ok(all)
}

fn manifest_pod(
    document: &Value,
    namespace: &str,
    classes: &BTreeMap<String, PriorityClass>,
) -> Result<Option<ManifestPod>, Failure> {
    let kind = document["kind"].as_str().unwrap_or_default();
    let api_version = document["apiVersion"].as_str().unwrap_or_default();
    let owner = OwnerKind::from_reference(api_version, kind);
    if owner.is_none() && (kind, api_version) != ("Pod", "v1") {
        return Ok(None);
    }
    let document = &strict::decode(document, owner).map_err(Failure::usage)?;
    let template = match owner {
        None => document,
        Some(OwnerKind::CronJob) => &document["spec"]["jobTemplate"]["spec"]["template"],
        Some(_) => &document["spec"]["template"],
    };
    let name = name(document);
    let spec = template["spec"].as_object();
    let spec =
        spec.ok_or_else(|| Failure::usage(format!("{kind} {name} has no pod template with a spec")))?;
    let spec = with_defaults(spec, classes).map_err(|why| Failure::usage(format!("{kind} {name}: {why}")))?;
    let namespace = document["metadata"]["namespace"].as_str().unwrap_or(namespace);
    let source = json!({
        "metadata": {
            "name": name, "namespace": namespace, "uid": format!("{kind}-{name}"),
            "labels": template["metadata"]["labels"], "annotations": template["metadata"]["annotations"],
        },
        "spec": spec,
        "status": { "phase": "Pending" },
    });
    let pod = pod(&source.to_string())
        .map_err(|error| Failure::usage(format!("{kind} {name}: {}", chain(&error))))?;
    let from = format!("{kind}/{name}");
    Ok(Some(ManifestPod { from, source, pod, replicas: replicas(owner, document) }))
}

fn name(document: &Value) -> String {
    let metadata = &document["metadata"];
    let generated = || metadata["generateName"].as_str().map(|stem| stem.trim_end_matches('-'));
    metadata["name"].as_str().or_else(generated).unwrap_or("unnamed").to_owned()
}

fn replicas(owner: Option<OwnerKind>, document: &Value) -> u32 {
    let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
    let spec = &document["spec"];
    let job = |spec: &Value| {
        let (wide, all) = (number(&spec["parallelism"]).unwrap_or(1), number(&spec["completions"]));
        all.map_or(wide, |all| wide.min(all))
    };
    match owner {
        None | Some(OwnerKind::DaemonSet) => 1,
        Some(OwnerKind::Job) => job(spec),
        Some(OwnerKind::CronJob) => job(&spec["jobTemplate"]["spec"]),
        Some(_) => number(&spec["replicas"]).unwrap_or(1),
    }
}

/// The spec with the defaults of the API server that decisions depend on.
pub(super) fn with_defaults(
    spec: &Map<String, Value>,
    classes: &BTreeMap<String, PriorityClass>,
) -> Result<Map<String, Value>, String> {
    let mut spec = spec.clone();
    let is_empty = |value: Option<&Value>| value.is_none_or(|value| value.is_null() || *value == "");
    if is_empty(spec.get("schedulerName")) {
        spec.insert("schedulerName".into(), DEFAULT_SCHEDULER_NAME.into());
    }
    set_priority(&mut spec, classes)?;
    let on_host = spec.get("hostNetwork").and_then(Value::as_bool).unwrap_or(false);
    for list in ["containers", "initContainers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            request_limits(container);
            if on_host {
                set_host_ports(container);
            }
        }
    }
    if let Some(resources) = spec.get_mut("resources") {
        let mut whole = json!({ "resources": resources.take() });
        request_limits(&mut whole);
        *resources = whole["resources"].take();
    }
    Ok(spec)
}

/// Sets the priority and the preemption policy of the pod's priority class, as admission does.
fn set_priority(
    spec: &mut Map<String, Value>,
    classes: &BTreeMap<String, PriorityClass>,
) -> Result<(), String> {
    let named = spec.get("priorityClassName").and_then(Value::as_str).filter(|name| !name.is_empty());
    let class = match named {
        Some("system-node-critical") => {
            Some(PriorityClass { value: 2_000_001_000, ..PriorityClass::default() })
        }
        Some("system-cluster-critical") => {
            Some(PriorityClass { value: 2_000_000_000, ..PriorityClass::default() })
        }
        Some(name) => {
            let class = classes.get(name).cloned();
            Some(class.ok_or_else(|| format!("no PriorityClass with name {name} was found"))?)
        }
        None => {
            classes.values().filter(|class| class.global_default).min_by_key(|class| class.value).cloned()
        }
    };
    let Some(class) = class else { return Ok(()) };
    spec.insert("priority".into(), class.value.into());
    if let Some(policy) = class.preemption_policy {
        spec.entry("preemptionPolicy").or_insert(policy.into());
    }
    Ok(())
}

/// Sets `hostPort` to `containerPort`, as the API server does for pods on the host's network.
fn set_host_ports(container: &mut Value) {
    for port in container.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        if port["hostPort"].is_null() {
            port["hostPort"] = port["containerPort"].clone();
        }
    }
}
