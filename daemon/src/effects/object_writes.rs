//! Writes what the claims of a pod need before the pod is bound: a merge patch for each object.

use super::{Effects, call};
use common::model::{CatalogKind, ObjectWrite};
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::Value;

/// Writes one after the other, and returns the resource versions after the writes. If one fails, the earlier ones stay: the
/// next try finds what they have changed.
pub(super) async fn write(effects: &Effects, writes: &[ObjectWrite]) -> Result<Vec<u64>, String> {
    let mut versions = Vec::with_capacity(writes.len());
    for write in writes {
        versions.push(write_one(effects, write).await?);
    }
    Ok(versions)
}

async fn write_one(effects: &Effects, write: &ObjectWrite) -> Result<u64, String> {
    let (client, resource) = (effects.client.clone(), resource(write.kind));
    let objects: Api<DynamicObject> = match &write.namespace {
        Some(namespace) => Api::namespaced_with(client, namespace, &resource),
        None => Api::all_with(client, &resource),
    };
    let patch: Value = serde_json::from_str(&write.patch).map_err(|error| error.to_string())?;
    let (patch, params) = (Patch::Merge(patch), PatchParams::default());
    let written = match write.is_status {
        true => call(objects.patch_status(&write.name, &params, &patch)).await,
        false => call(objects.patch(&write.name, &params, &patch)).await,
    };
    let written = written.result()?;
    let version = written.resource_version().and_then(|version| version.parse().ok());
    version.ok_or_else(|| "the answer has no version".to_owned())
}

fn resource(kind: CatalogKind) -> ApiResource {
    let gvk = GroupVersionKind::gvk(kind.group(), "v1", kind.as_str());
    ApiResource::from_gvk_with_plural(&gvk, kind.plural())
}
