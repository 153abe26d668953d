//! Defaults and validation: as much of upstream's as our programs need.

use super::{State, kind};
use crate::refusal::{Answer, Refusal};
use crate::resources::Resource;
use crate::select::Selector;
use crate::store::Key;
use crate::value::{is_deleting, list, name, number, second, text};
use serde_json::{Value, json};

impl State {
    /// Adds upstream's default values.
    pub(super) fn fill(&mut self, resource: &Resource, object: &mut Value) -> Answer<()> {
        match resource.plural {
            "pods" => {
                fill_pod_spec(&mut object["spec"]);
                fill_tolerations(&mut object["spec"]);
                self.fill_priority(resource, object)?;
                if text(object, "/status/phase").is_empty() {
                    object["status"] = self.first_status(object);
                }
            }
            "deployments" | "replicasets" | "statefulsets" | "daemonsets" | "replicationcontrollers" => {
                fill_workload(resource, &mut object["spec"]);
                if matches!(resource.plural, "replicasets" | "statefulsets" | "replicationcontrollers") {
                    fill(object, json!({ "status": { "replicas": 0 } }));
                }
            }
            "namespaces" => {
                let phase = if is_deleting(object) { "Terminating" } else { "Active" };
                object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name(object).into();
                fill(object, json!({ "spec": { "finalizers": ["kubernetes"] }, "status": {} }));
                object["status"]["phase"] = phase.into();
            }
            "poddisruptionbudgets" => {
                let none = json!({ "currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0 });
                fill(object, json!({ "status": none }));
            }
            "events" => fill(object, json!({ "reportingComponent": "", "reportingInstance": "" })),
            _ => {}
        }
        Ok(())
    }

    fn fill_priority(&self, resource: &Resource, pod: &mut Value) -> Answer<()> {
        let classes = kind("scheduling.k8s.io", "priorityclasses");
        let found = match text(pod, "/spec/priorityClassName") {
            "system-cluster-critical" => json!({ "value": 2_000_000_000 }),
            "system-node-critical" => json!({ "value": 2_000_001_000 }),
            "" => {
                let default = self.store.all(classes).find(|one| one["globalDefault"] == true);
                default.map_or_else(|| json!({ "value": 0 }), |class| Value::clone(class))
            }
            class => {
                let why = format!("no PriorityClass with name {class} was found");
                let found = self.get(&Key::new(classes, "", class));
                Value::clone(found.map_err(|_| Refusal::forbidden(resource, name(pod), &why))?)
            }
        };
        let policy = found["preemptionPolicy"].as_str().unwrap_or("PreemptLowerPriority");
        fill(&mut pod["spec"], json!({ "priority": found["value"], "preemptionPolicy": policy }));
        Ok(())
    }

    fn first_status(&self, pod: &Value) -> Value {
        if list(pod, "/spec/schedulingGates").is_empty() {
            return json!({ "phase": "Pending" });
        }
        json!({ "phase": "Pending", "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "lastTransitionTime": second(self.now),
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }] })
    }
}

/// Adds missing fields, at any depth.
fn fill(object: &mut Value, defaults: Value) {
    let (Some(object), Value::Object(defaults)) = (object.as_object_mut(), defaults) else { return };
    for (key, value) in defaults {
        fill(object.entry(key).or_insert_with(|| value.clone()), value);
    }
}

fn fill_pod_spec(spec: &mut Value) {
    let defaults = json!({
        "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler",
        "terminationGracePeriodSeconds": 30, "serviceAccountName": "default", "securityContext": {},
    });
    fill(spec, defaults);
    for field in ["containers", "initContainers"] {
        for container in spec.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten() {
            fill(container, json!({ "imagePullPolicy": "IfNotPresent", "resources": {} }));
            // Without requests the limits are the requests.
            if let Some(limits) = container["resources"].get("limits").cloned() {
                fill(&mut container["resources"], json!({ "requests": limits }));
            }
        }
    }
}

/// Adds the tolerations of the admission plugin DefaultTolerationSeconds.
fn fill_tolerations(spec: &mut Value) {
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let is_about = |one: &Value| {
            ["", key].contains(&text(one, "/key")) && ["", "NoExecute"].contains(&text(one, "/effect"))
        };
        let mut all = list(spec, "/tolerations").to_vec();
        if !all.iter().any(is_about) {
            all.push(
                json!({ "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300 }),
            );
            spec["tolerations"] = all.into();
        }
    }
}

fn fill_workload(resource: &Resource, spec: &mut Value) {
    let rolling =
        json!({ "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": "25%", "maxSurge": "25%" } });
    let defaults = match resource.plural {
        "deployments" => {
            json!({ "replicas": 1, "strategy": rolling, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600 })
        }
        "statefulsets" => {
            json!({ "replicas": 1, "podManagementPolicy": "OrderedReady", "updateStrategy": { "type": "RollingUpdate" } })
        }
        "daemonsets" => json!({}),
        _ => json!({ "replicas": 1 }),
    };
    fill(spec, defaults);
    if text(spec, "/strategy/type") == "Recreate" {
        spec["strategy"] = json!({ "type": "Recreate" });
    }
    if let Some(spec) = spec.pointer_mut("/template/spec") {
        fill_pod_spec(spec);
    }
}

const NAME_RULE: &str = "lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character \
                    (e.g. 'example.com', regex used for validation is \
                    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// Refuses invalid names.
pub(super) fn check_name(resource: &Resource, object: &Value) -> Answer<()> {
    let name = name(object);
    if name.is_empty() {
        let why = ("Required", "metadata.name", "Required value: name or generateName is required");
        return Err(Refusal::invalid(resource, "", why));
    }
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let is_good = name.len() <= 253
        && name.chars().all(|letter| is_plain(letter) || letter == '-' || letter == '.')
        && name.starts_with(is_plain)
        && name.ends_with(is_plain);
    // RBAC objects may have any name.
    if is_good || resource.group.starts_with("rbac.") {
        return Ok(());
    }
    let why = format!("Invalid value: {name:?}: a lowercase RFC 1123 subdomain must consist of {NAME_RULE}");
    Err(Refusal::invalid(resource, name, ("Invalid", "metadata.name", &why)))
}

pub(super) fn check(resource: &Resource, object: &Value) -> Answer<()> {
    let invalid = |kind, field, why: &str| Err(Refusal::invalid(resource, name(object), (kind, field, why)));
    match resource.plural {
        "pods" if list(object, "/spec/containers").is_empty() => {
            invalid("Required", "spec.containers", "Required value")
        }
        "deployments" | "replicasets" | "statefulsets" | "daemonsets" => {
            let labels = &object["spec"]["template"]["metadata"]["labels"];
            let negative = number(object, "/spec/replicas").filter(|replicas| *replicas < 0);
            match (Selector::of_labels(&object["spec"]["selector"]), negative) {
                (None, _) => invalid("Required", "spec.selector", "Required value"),
                (Some(selector), _) if !selector.matches_labels(labels) => {
                    let why = format!("Invalid value: {labels}: `selector` does not match template `labels`");
                    invalid("Invalid", "spec.template.metadata.labels", &why)
                }
                (_, Some(replicas)) => {
                    let why = format!("Invalid value: {replicas}: must be greater than or equal to 0");
                    invalid("Invalid", "spec.replicas", &why)
                }
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// The fields of a pod's spec that may change.
const MUTABLE: &str = "containers initContainers activeDeadlineSeconds tolerations terminationGracePeriodSeconds schedulingGates \
                     nodeSelector";

/// Refuses changes of immutable fields.
pub(super) fn check_change(resource: &Resource, old: &Value, new: &Value) -> Answer<()> {
    let invalid = |kind, field, why| Err(Refusal::invalid(resource, name(new), (kind, field, why)));
    let fixed = |pod: &Value| {
        let mut spec = pod["spec"].as_object().cloned().unwrap_or_default();
        spec.retain(|field, _| !MUTABLE.split(' ').any(|loose| loose == field));
        spec
    };
    match resource.group {
        "apps" if old["spec"]["selector"] != new["spec"]["selector"] => {
            invalid("Invalid", "spec.selector", "Invalid value: field is immutable")
        }
        "" if resource.plural == "pods" && fixed(old) != fixed(new) => {
            let why = "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,\
                       `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing \
                       tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
            invalid("Forbidden", "spec", why)
        }
        _ => Ok(()),
    }
}
