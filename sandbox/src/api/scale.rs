//! The number of replicas of a workload as an object of its own.

use super::{Part, State};
use crate::refusal::{Answer, Refusal};
use crate::resources::Resource;
use crate::value::{name, namespace, number};
use serde_json::{Value, json};

/// The Scale of a workload.
pub(crate) fn scale_of(object: &Value) -> Value {
    let labels = object["spec"]["selector"]["matchLabels"].as_object().cloned().unwrap_or_default();
    let pairs: Vec<String> =
        labels.iter().map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or(""))).collect();
    let mut meta = json!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        meta[field] = object["metadata"][field].clone();
    }
    json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": meta,
        "spec": { "replicas": number(object, "/spec/replicas").unwrap_or(0) },
        "status": { "replicas": number(object, "/status/replicas").unwrap_or(0), "selector": pairs.join(",") },
    })
}

impl State {
    /// Writes the Scale of a workload.
    pub(crate) fn set_scale(
        &mut self,
        resource: &'static Resource,
        old: &Value,
        scale: &Value,
        is_dry: bool,
    ) -> Answer<Value> {
        let mut new = old.clone();
        let replicas = number(scale, "/spec/replicas").unwrap_or(0);
        if replicas < 0 {
            let why = format!("Invalid value: {replicas}: must be greater than or equal to 0");
            let refusal =
                Refusal::invalid_of("Scale.autoscaling", name(old), ("Invalid", "spec.replicas", &why));
            return Err(refusal.on(name(old), "Scale", "autoscaling"));
        }
        new["spec"]["replicas"] = replicas.into();
        new["metadata"]["resourceVersion"] = scale["metadata"]["resourceVersion"].clone();
        let written = self.update(resource, (namespace(old), name(old)), new, Part::Main, is_dry)?;
        Ok(scale_of(&written))
    }
}
