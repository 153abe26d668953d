//! Decodes a pod template, with the requests that its pods will have.

use super::pod;
use crate::model::Pod;
use serde_json::{Map, Value, json};

/// The pod that is made from a template with this `spec`; `None` if the template is invalid.
///
/// In a pod the API server has set missing requests to the limits; in a template it has not, so this is done here.
pub fn template(mut spec: Value) -> Option<Pod> {
    for list in ["containers", "initContainers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        containers.into_iter().flatten().for_each(request_limits);
    }
    request_limits(&mut spec);
    let pod = pod(&json!({ "metadata": { "name": "template" }, "spec": spec }).to_string()).ok()?;
    pod.problem.is_none().then_some(pod)
}

/// Sets the request of each resource to its limit where `resources` has a limit and no request. `object` is a container or the spec
/// of a pod.
pub fn request_limits(object: &mut Value) {
    let Some(resources) = object.get_mut("resources").and_then(Value::as_object_mut) else { return };
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
