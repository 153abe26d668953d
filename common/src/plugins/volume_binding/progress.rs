//! Whether the volumes of a pod are bound, after the API server was asked to bind them; with the error texts of kube-scheduler.
//! Entry point: [`progress()`].

use super::NAME;
use super::find::reaches;
use crate::cluster::Snapshot;
use crate::model::Node;
use crate::model::ids::NodeName;
use crate::model::storage::{ChosenVolume, ClaimRef, PersistentVolume, PersistentVolumeClaim};
use crate::plugins::claims::{claim_not_found, quoted, volume_not_found};

/// What was written to the API server for one claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeBindingRequest {
    /// The claim to be bound.
    pub claim: ClaimRef,
    /// The volume that the claim gets.
    pub volume: ChosenVolume,
    /// The resource version of this write: of the volume, or of the claim if a volume is provisioned.
    pub version: u64,
}

/// The progress of the volumes of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumeBindingProgress {
    /// Every claim is bound.
    Done,
    /// A claim is not bound yet.
    Waiting,
    /// The binding failed, and the pod has to be scheduled again.
    Failed(String),
}

/// The error text for a pod whose volumes could not be bound.
pub fn pre_bind_error(error: &str) -> String {
    format!("running PreBind plugin \"{NAME}\": {error}")
}

/// The progress of the requests for a pod that goes to `node`.
pub fn progress(
    requests: &[VolumeBindingRequest],
    node: &NodeName,
    world: &Snapshot<'_>,
) -> VolumeBindingProgress {
    let Some(ledger) = world.find(node).and_then(|id| world.ledger(id)) else {
        let node = quoted(node.as_str());
        return VolumeBindingProgress::Failed(format!("failed to get node {node}: node {node} not found"));
    };
    for request in requests {
        match is_done(request, &ledger.node, world) {
            Ok(true) => {}
            Ok(false) => return VolumeBindingProgress::Waiting,
            Err(error) => return VolumeBindingProgress::Failed(error),
        }
    }
    VolumeBindingProgress::Done
}

/// Whether the claim of this request is bound.
fn is_done(request: &VolumeBindingRequest, node: &Node, world: &Snapshot<'_>) -> Result<bool, String> {
    let catalog = world.catalog();
    let claim = catalog.claims.get(&request.claim.namespace, &request.claim.name);
    match &request.volume {
        ChosenVolume::Existing { name, .. } => {
            let volume = catalog.volumes.named(name);
            let volume =
                volume.ok_or_else(|| format!("failed to check binding: {}", volume_not_found(name)))?;
            let claim = claim.ok_or_else(|| {
                format!("failed to check binding: {}", claim_not_found(&request.claim.name))
            })?;
            if volume.meta.resource_version < request.version {
                return Ok(false);
            }
            check_node_affinity(volume, node, world)?;
            if volume.claim.as_ref().is_none_or(|named| named.uid.is_none()) {
                return Err(format!("ClaimRef got reset for pv {}", quoted(name)));
            }
            Ok(claim.is_bound())
        }
        ChosenVolume::Provisioned => {
            let error =
                || format!("failed to check provisioning pvc: {}", claim_not_found(&request.claim.name));
            is_provisioned(claim.ok_or_else(error)?, request.version, node, world)
        }
    }
}

/// Whether a claim is bound to the volume that is provisioned for it. When that fails, the provisioner removes the selected node
/// from the claim.
fn is_provisioned(
    claim: &PersistentVolumeClaim,
    version: u64,
    node: &Node,
    world: &Snapshot<'_>,
) -> Result<bool, String> {
    if claim.meta.resource_version < version {
        return Ok(false);
    }
    if claim.selected_node.as_ref() != Some(&node.name) {
        return Err(format!("provisioning failed for PVC {}", quoted(&claim.meta.name)));
    }
    if let Some(name) = &claim.volume_name {
        // The volume may not have been read yet; if it is gone, the claim will become Lost.
        let Some(volume) = world.catalog().volumes.named(name) else { return Ok(false) };
        check_node_affinity(volume, node, world)?;
    }
    Ok(claim.is_bound())
}

fn check_node_affinity(volume: &PersistentVolume, node: &Node, world: &Snapshot<'_>) -> Result<(), String> {
    if reaches(volume, node, world.catalog())? {
        return Ok(());
    }
    let (volume, node) = (quoted(&volume.meta.name), quoted(node.name.as_str()));
    Err(format!("pv {volume} node affinity doesn't match node {node}: no matching NodeSelectorTerms"))
}
