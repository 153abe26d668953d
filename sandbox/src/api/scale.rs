//! The subresource `scale` of workloads.

use super::{Part, State};
use crate::refusal::{Answer, Refusal};
use crate::store::Key;
use crate::value::{name, number, pairs};
use serde_json::{Value, json};

pub(crate) fn scale_of(object: &Value) -> Value {
    let mut meta = json!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        meta[field] = object["metadata"][field].clone();
    }
    json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": meta,
        "spec": { "replicas": number(object, "/spec/replicas").unwrap_or(0) },
        "status": { "replicas": number(object, "/status/replicas").unwrap_or(0), "selector": pairs(&object["spec"]["selector"]["matchLabels"]) },
    })
}

impl State {
    pub(crate) fn set_scale(&mut self, key: &Key, old: &Value, scale: &Value, is_dry: bool) -> Answer<Value> {
        let mut new = old.clone();
        let replicas = number(scale, "/spec/replicas").unwrap_or(0);
        if replicas < 0 {
            let why = format!("Invalid value: {replicas}: must be greater than or equal to 0");
            let refusal =
                Refusal::invalid_of("Scale.autoscaling", name(old), ("Invalid", "spec.replicas", &why));
            return Err(refusal.with_details(name(old), "Scale", "autoscaling"));
        }
        new["spec"]["replicas"] = replicas.into();
        new["metadata"]["resourceVersion"] = scale["metadata"]["resourceVersion"].clone();
        let written = self.update(key, new, Part::Main, is_dry)?;
        Ok(scale_of(&written))
    }
}
