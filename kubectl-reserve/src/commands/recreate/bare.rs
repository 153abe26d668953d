//! Pods without a controller: `back_up` saves the manifest before the eviction, `create` creates the pod again afterwards.

use super::keep_annotation::is_of_a_run;
use super::target::TargetPod;
use crate::api::{self as calls, ApiError, JSON};
use crate::connect::Session;
use crate::error::Failure;
use crate::flow::recreate::{Answer, StopReason};
use crate::platform;
use crate::reader::pods_in;
use crate::ui::embedded::state_folder;
use common::api::names::{KEEP, SEAT_STAMP};
use http::Method;
use serde_json::Value;
use std::path::PathBuf;

/// The metadata that the server fills in, and that must not be in a manifest.
const METADATA_OF_SERVER: [&str; 8] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "managedFields",
    "selfLink",
];

/// The manifest of a new pod that is like `pod`.
pub(super) fn manifest(pod: &Value) -> Value {
    let mut pod = pod.clone();
    if let Some(top) = pod.as_object_mut() {
        top.remove("status");
        top.insert("apiVersion".into(), "v1".into());
        top.insert("kind".into(), "Pod".into());
    }
    if let Some(metadata) = pod["metadata"].as_object_mut() {
        METADATA_OF_SERVER.iter().for_each(|field| drop(metadata.remove(*field)));
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            // The seat of the old pod: the new pod gets its own.
            annotations.remove(SEAT_STAMP);
            // `reserve/keep` of a run of the command ended with the old pod; one that the author of the pod wrote stays.
            if annotations.get(KEEP).and_then(Value::as_str).is_some_and(is_of_a_run) {
                annotations.remove(KEEP);
            }
        }
    }
    strip_token(&mut pod["spec"]);
    if let Some(spec) = pod["spec"].as_object_mut() {
        spec.remove("nodeName");
    }
    pod
}

/// Removes the volume with the service account's token: the server adds a new one to each pod.
fn strip_token(spec: &mut Value) {
    let is_token = |name: &Value| name.as_str().is_some_and(|name| name.starts_with("kube-api-access-"));
    if let Some(volumes) = spec.get_mut("volumes").and_then(Value::as_array_mut) {
        volumes.retain(|volume| !is_token(&volume["name"]));
    }
    for field in ["containers", "initContainers"] {
        for container in spec.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(mounts) = container.get_mut("volumeMounts").and_then(Value::as_array_mut) {
                mounts.retain(|mount| !is_token(&mount["name"]));
            }
        }
    }
}

/// Saves the manifest to a file that only the user can read. Returns its path.
pub(super) fn back_up(target: &TargetPod) -> Result<PathBuf, Failure> {
    let folder =
        state_folder().ok_or_else(|| Failure::new("there is no folder to back the manifest up to"))?;
    let folder = folder.join("kubectl-reserve").join("backup");
    let key = &target.pod.key;
    let path = folder.join(format!("{}-{}-{}.yaml", key.namespace, key.name, target.pod.uid));
    let json = serde_json::from_str(&target.source).map_err(Failure::new)?;
    let text = serde_saphyr::to_string(&manifest(&json)).map_err(Failure::new)?;
    let written = std::fs::create_dir_all(&folder).and_then(|()| platform::write_private(&path, &text));
    written.map_err(|error| Failure::new(format!("back up the manifest to {}: {error}", path.display())))?;
    Ok(path)
}

pub(super) async fn create(session: &Session, target: &TargetPod) -> Answer {
    let path = pods_in(&target.pod.key.namespace);
    let body = match serde_json::from_str(&target.source) {
        Ok(json) => manifest(&json).to_string(),
        Err(error) => return Answer::Failed(StopReason::Failed(error.to_string())),
    };
    match calls::write(session, Method::POST, &path, JSON, body).await {
        Ok(_) => Answer::Created,
        Err(ApiError::Broken(why)) => Answer::Lost(why),
        // The pod exists: an earlier try had no answer, or somebody else created it.
        Err(ApiError::Refused(refused)) if refused.code == 409 => Answer::Created,
        Err(ApiError::Refused(refused)) if matches!(refused.code, 429 | 500..) => {
            Answer::Lost(refused.to_string())
        }
        Err(ApiError::Refused(refused)) => {
            let what = format!("{} could not be created again: {}", target.name(), refused.message);
            Answer::Failed(StopReason::Failed(what))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::manifest;
    use serde_json::json;

    #[test]
    fn a_manifest_has_nothing_that_the_server_fills_in() {
        let token = json!({ "name": "kube-api-access-x2x7q", "projected": {} });
        let mount = json!({ "name": "kube-api-access-x2x7q", "mountPath": "/var/run" });
        let pod = json!({
            "metadata": { "name": "p", "namespace": "d", "uid": "u", "resourceVersion": "5", "labels": { "a": "b" },
                          "annotations": { "reserve/seat": "o.s", "mine": "1" }, "managedFields": [] },
            "spec": { "nodeName": "n1", "volumes": [{ "name": "data", "emptyDir": {} }, token],
                      "containers": [{ "name": "c", "volumeMounts": [{ "name": "data" }, mount] }] },
            "status": { "phase": "Running" },
        });
        let expected = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": "p", "namespace": "d", "labels": { "a": "b" }, "annotations": { "mine": "1" } },
            "spec": { "volumes": [{ "name": "data", "emptyDir": {} }],
                      "containers": [{ "name": "c", "volumeMounts": [{ "name": "data" }] }] },
        });
        assert_eq!(manifest(&pod), expected);
    }
}
