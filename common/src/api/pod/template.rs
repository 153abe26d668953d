//! A pod template from API JSON, with the requests that its pods will have.

use super::pod;
use crate::model::Pod;
use serde_json::{Map, Value, json};

/// The pod that is made from a template with this `spec`; `None` if the template cannot be understood.
///
/// In a pod the API server has turned limits into requests where requests are missing, and in a template it has not.
pub fn template(mut spec: Value) -> Option<Pod> {
    for list in ["containers", "initContainers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        containers.into_iter().flatten().for_each(request_limits);
    }
    request_limits(&mut spec);
    let made = pod(&json!({ "metadata": { "name": "template" }, "spec": spec }).to_string()).ok()?;
    made.problem.is_none().then_some(made)
}

/// Requests as much of each resource as the limit is, where `resources` of a container or of a whole pod has a limit and no
/// request.
pub fn request_limits(of: &mut Value) {
    let Some(resources) = of.get_mut("resources").and_then(Value::as_object_mut) else { return };
    let Some(limits) = resources.get("limits").and_then(Value::as_object).cloned() else { return };
    let requests = resources.entry("requests").or_insert(Value::Null);
    if requests.is_null() {
        *requests = Value::Object(Map::new());
    }
    let Some(requests) = requests.as_object_mut() else { return };
    for (resource, limit) in limits {
        let request = requests.entry(resource).or_insert(Value::Null);
        if request.is_null() {
            *request = limit;
        }
    }
}
