//! Whether the volumes of a pod are bound, after the API server was asked to bind them; with the error texts of kube-scheduler.
//! Entry point: [`progress()`].

use super::find::reaches;
use crate::cluster::Snapshot;
use crate::framework::{ClaimProgress, PreparedClaim};
use crate::model::storage::ChosenVolume;
use crate::model::{Claim, Node, NodeName, PersistentVolume, PersistentVolumeClaim, VolumeChoice};
use crate::plugins::claims::{claim_not_found, quoted, volume_not_found};

/// The progress of the volumes of a pod that goes to `node`.
pub(super) fn progress(prepared: &[PreparedClaim], node: &NodeName, world: &Snapshot<'_>) -> ClaimProgress {
    let failed = |why: String| ClaimProgress::Failed(format!("binding volumes: {why}"));
    let Some(ledger) = world.find(node).and_then(|id| world.ledger(id)) else {
        let node = quoted(node.as_str());
        return failed(format!("failed to get node {node}: node {node} not found"));
    };
    for PreparedClaim { claim, version, .. } in prepared {
        let Claim::Volume(choice) = claim else { continue };
        match is_done(choice, *version, &ledger.node, world) {
            Ok(true) => {}
            Ok(false) => return ClaimProgress::Waiting,
            Err(error) => return failed(error),
        }
    }
    ClaimProgress::Done
}

/// Whether the claim of this choice is bound. `version`: that of its write, of the volume or, if a volume is provisioned, of the claim.
fn is_done(choice: &VolumeChoice, version: u64, node: &Node, world: &Snapshot<'_>) -> Result<bool, String> {
    let catalog = world.catalog();
    let claim = catalog.claims.get(&choice.claim.namespace, &choice.claim.name);
    match &choice.volume {
        ChosenVolume::Existing { name, .. } => {
            let volume = catalog.volumes.named(name);
            let volume =
                volume.ok_or_else(|| format!("failed to check binding: {}", volume_not_found(name)))?;
            let claim = claim
                .ok_or_else(|| format!("failed to check binding: {}", claim_not_found(&choice.claim.name)))?;
            if volume.meta.resource_version < version {
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
                || format!("failed to check provisioning pvc: {}", claim_not_found(&choice.claim.name));
            is_provisioned(claim.ok_or_else(error)?, version, node, world)
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
