//! Binds volumes for a pod: a PersistentVolume gets the name of its claim, or a claim gets the node for which its volume is
//! provisioned. The cluster's controllers do the rest.

use super::{Effects, Outcome, call};
use crate::state::VolumeWrite;
use common::api::names::{BOUND_BY_CONTROLLER, SELECTED_NODE};
use common::model::storage::ClaimRef;
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

/// Writes one after the other, and returns the resource versions after the writes. If one fails, the earlier ones stay: the
/// next try finds the volume that names the claim, and the node that a claim names.
pub(super) async fn write(effects: &Effects, writes: &[VolumeWrite]) -> Result<Vec<u64>, String> {
    let mut versions = Vec::with_capacity(writes.len());
    for write in writes {
        versions.push(write_one(effects, write).await?);
    }
    Ok(versions)
}

async fn write_one(effects: &Effects, write: &VolumeWrite) -> Result<u64, String> {
    let params = PatchParams::default();
    match write {
        VolumeWrite::Volume { name, version, claim, claim_version, is_ours } => {
            let volumes: Api<PersistentVolume> = Api::all(effects.client.clone());
            let patch = Patch::Merge(volume_patch(*version, claim, *claim_version, *is_ours));
            version_of(call(volumes.patch(name, &params, &patch)).await)
        }
        VolumeWrite::Claim { claim, version, node } => {
            let claims: Api<PersistentVolumeClaim> =
                Api::namespaced(effects.client.clone(), &claim.namespace);
            let annotations = json!({ SELECTED_NODE: node.as_str() });
            let uid = claim.uid.as_ref().map(ToString::to_string);
            let patch = json!({ "metadata": {
                "uid": uid, "resourceVersion": version.to_string(), "annotations": annotations } });
            version_of(call(claims.patch(&claim.name, &params, &Patch::Merge(patch))).await)
        }
    }
}

fn volume_patch(version: u64, claim: &ClaimRef, claim_version: u64, is_ours: bool) -> Value {
    let mut patch = json!({
        "metadata": { "resourceVersion": version.to_string() },
        "spec": { "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": &*claim.namespace,
            "name": &*claim.name,
            "uid": claim.uid.as_ref().map(ToString::to_string),
            "resourceVersion": claim_version.to_string(),
        } },
    });
    if is_ours {
        patch["metadata"]["annotations"] = json!({ BOUND_BY_CONTROLLER: "yes" });
    }
    patch
}

fn version_of(outcome: Outcome<impl ResourceExt>) -> Result<u64, String> {
    match outcome {
        Outcome::Done(written) => {
            let version = written.resource_version().and_then(|version| version.parse().ok());
            version.ok_or_else(|| "the answer has no version".to_owned())
        }
        Outcome::Refused(status) => Err(status.message),
        Outcome::Unknown(why) => Err(why),
    }
}
