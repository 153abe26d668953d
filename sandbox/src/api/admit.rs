//! What is added to objects and what is refused: as much of upstream's defaults and checks as our programs meet.

use super::{State, kind};
use crate::refusal::{Answer, Refusal};
use crate::resources::Resource;
use crate::select::Selector;
use crate::value::{is_deleting, list, name, second, text};
use serde_json::{Value, json};

/// Priorities that every cluster has.
const SYSTEM: [(&str, i64); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

impl State {
    /// Adds what upstream adds where nothing is said.
    pub(super) fn fill(&mut self, resource: &Resource, object: &mut Value) -> Answer<()> {
        match resource.plural {
            "pods" => {
                fill_pod_spec(&mut object["spec"]);
                self.fill_priority(resource, object)?;
                self.fill_pod_status(object);
            }
            "deployments" | "replicasets" | "statefulsets" | "daemonsets" | "replicationcontrollers" => {
                fill_workload(resource, &mut object["spec"]);
            }
            "namespaces" => {
                object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name(object).into();
                object["spec"]["finalizers"] = json!(["kubernetes"]);
                object["status"]["phase"] = if is_deleting(object) { "Terminating" } else { "Active" }.into();
            }
            "poddisruptionbudgets" => {
                let zero = json!({ "currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0 });
                fill(object, json!({ "status": {} }));
                fill(&mut object["status"], zero);
            }
            "events" => fill(object, json!({ "reportingComponent": "", "reportingInstance": "" })),
            _ => {}
        }
        Ok(())
    }

    fn fill_priority(&self, resource: &Resource, pod: &mut Value) -> Answer<()> {
        if pod["spec"]["priority"].is_i64() {
            return Ok(());
        }
        let class = text(pod, "/spec/priorityClassName").to_owned();
        let found = match SYSTEM.iter().find(|(name, _)| *name == class) {
            Some((_, priority)) => json!({ "value": priority }),
            None if class.is_empty() => {
                let default = self
                    .store
                    .all(kind("scheduling.k8s.io", "priorityclasses"))
                    .find(|one| one["globalDefault"] == true);
                default.map_or_else(|| json!({ "value": 0 }), |class| Value::clone(class))
            }
            None => {
                let why = format!("no PriorityClass with name {class} was found");
                let found = self.get(kind("scheduling.k8s.io", "priorityclasses"), "", &class);
                Value::clone(found.map_err(|_| Refusal::forbidden(resource, name(pod), &why))?)
            }
        };
        pod["spec"]["priority"] = found["value"].clone();
        let policy = found["preemptionPolicy"].as_str().unwrap_or("PreemptLowerPriority");
        pod["spec"]["preemptionPolicy"] = policy.into();
        Ok(())
    }

    fn fill_pod_status(&self, pod: &mut Value) {
        if !text(pod, "/status/phase").is_empty() {
            return;
        }
        pod["status"] = json!({ "phase": "Pending", "qosClass": quality(pod) });
        if !list(pod, "/spec/schedulingGates").is_empty() {
            pod["status"]["conditions"] = json!([{
                "type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "lastTransitionTime": second(self.now),
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }]);
        }
    }
}

fn fill(object: &mut Value, defaults: Value) {
    let (Some(object), Value::Object(defaults)) = (object.as_object_mut(), defaults) else { return };
    for (key, value) in defaults {
        object.entry(key).or_insert(value);
    }
}

fn fill_pod_spec(spec: &mut Value) {
    if !spec.is_object() {
        return;
    }
    fill(
        spec,
        json!({
            "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler",
            "terminationGracePeriodSeconds": 30, "serviceAccountName": "default", "securityContext": {},
        }),
    );
    for field in ["containers", "initContainers"] {
        for container in spec.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten() {
            let limits = container["resources"]["limits"].clone();
            let mut requests = container["resources"]["requests"].take();
            if limits.is_object() && requests.is_null() {
                requests = json!({});
            }
            fill(&mut requests, limits);
            match requests {
                Value::Null => drop(container["resources"].as_object_mut().map(|all| all.remove("requests"))),
                requests => container["resources"]["requests"] = requests,
            }
            if container["resources"].is_null() {
                container["resources"] = json!({});
            }
            fill(container, json!({ "imagePullPolicy": "IfNotPresent" }));
        }
    }
}

fn fill_workload(resource: &Resource, spec: &mut Value) {
    if !spec.is_object() {
        return;
    }
    let rolling = json!({ "maxUnavailable": "25%", "maxSurge": "25%" });
    fill(
        spec,
        match resource.plural {
            "deployments" => {
                json!({ "replicas": 1, "strategy": {}, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600 })
            }
            "statefulsets" => {
                json!({ "replicas": 1, "podManagementPolicy": "OrderedReady", "updateStrategy": { "type": "RollingUpdate" } })
            }
            "daemonsets" => json!({}),
            _ => json!({ "replicas": 1 }),
        },
    );
    if resource.plural == "deployments" {
        fill(&mut spec["strategy"], json!({ "type": "RollingUpdate" }));
        if spec["strategy"]["type"] == "RollingUpdate" {
            fill(&mut spec["strategy"], json!({ "rollingUpdate": {} }));
            fill(&mut spec["strategy"]["rollingUpdate"], rolling);
        }
    }
    if spec["template"].is_object() {
        fill_pod_spec(&mut spec["template"]["spec"]);
    }
}

fn quality(pod: &Value) -> &'static str {
    let containers = list(pod, "/spec/containers");
    let amounts = |one: &Value, what: &str| one["resources"][what].as_object().cloned().unwrap_or_default();
    if containers.iter().all(|one| amounts(one, "requests").is_empty()) {
        return "BestEffort";
    }
    let is_guaranteed = |one: &Value| {
        let (requests, limits) = (amounts(one, "requests"), amounts(one, "limits"));
        requests == limits && limits.contains_key("cpu") && limits.contains_key("memory")
    };
    if containers.iter().all(is_guaranteed) { "Guaranteed" } else { "Burstable" }
}

/// Refuses names that no object can have.
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
    // Roles are called what people like.
    if is_good || (resource.group.starts_with("rbac.") && !name.contains(['/', '%'])) {
        return Ok(());
    }
    let why = format!(
        "Invalid value: {name:?}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
         '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
         '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
    );
    Err(Refusal::invalid(resource, name, ("Invalid", "metadata.name", &why)))
}

/// Refuses what makes no sense.
pub(super) fn check(resource: &Resource, object: &Value) -> Answer<()> {
    let invalid = |kind, field, why| Err(Refusal::invalid(resource, name(object), (kind, field, why)));
    match resource.plural {
        "pods" if list(object, "/spec/containers").is_empty() => {
            invalid("Required", "spec.containers", "Required value")
        }
        "deployments" | "replicasets" | "statefulsets" | "daemonsets" => {
            let selector =
                Selector::of_labels(&object["spec"]["selector"]).filter(|selector| !selector.is_empty());
            let Some(selector) = selector else {
                return invalid("Required", "spec.selector", "Required value");
            };
            if !selector.matches_labels(&object["spec"]["template"]["metadata"]["labels"]) {
                let labels = &object["spec"]["template"]["metadata"]["labels"];
                let why = format!("Invalid value: {labels}: `selector` does not match template `labels`");
                return invalid("Invalid", "spec.template.metadata.labels", &why);
            }
            if crate::value::number(object, "/spec/replicas").is_some_and(|replicas| replicas < 0) {
                return invalid(
                    "Invalid",
                    "spec.replicas",
                    "Invalid value: must be greater than or equal to 0",
                );
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The parts of a pod's spec that may change.
const LOOSE: [&str; 5] =
    ["containers", "initContainers", "activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"];

/// Refuses changes of what cannot change.
pub(super) fn check_change(resource: &Resource, old: &Value, new: &Value) -> Answer<()> {
    let invalid = |kind, field, why| Err(Refusal::invalid(resource, name(new), (kind, field, why)));
    match resource.plural {
        "pods" => {
            let fixed = |pod: &Value| {
                let mut spec = pod["spec"].as_object().cloned().unwrap_or_default();
                spec.retain(|field, _| {
                    !LOOSE.contains(&field.as_str()) && field != "schedulingGates" && field != "nodeSelector"
                });
                spec
            };
            if fixed(old) == fixed(new) {
                return Ok(());
            }
            let why = "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,\
                       `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),\
                       `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
            invalid("Forbidden", "spec", why)
        }
        "deployments" | "replicasets" | "statefulsets" | "daemonsets"
            if old["spec"]["selector"] != new["spec"]["selector"] =>
        {
            invalid("Invalid", "spec.selector", "Invalid value: field is immutable")
        }
        _ => Ok(()),
    }
}
