//! How far the volumes of a pod have come that were asked for, in upstream's words where it goes wrong.

use super::NAME;
use super::find::reaches;
use crate::cluster::Snapshot;
use crate::model::Node;
use crate::model::ids::NodeName;
use crate::model::storage::{ChosenVolume, ClaimRef, PersistentVolume, PersistentVolumeClaim};
use crate::plugins::claims::{no_claim, no_volume, quoted};

/// What was asked of the API server for one claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The claim.
    pub claim: ClaimRef,
    /// What it gets.
    pub volume: ChosenVolume,
    /// The version of the volume, or of the claim if one is being made, that says so.
    pub version: u64,
}

/// How far they have come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Every claim has its volume.
    Done,
    /// Not yet.
    Waiting,
    /// It comes to nothing there: the pod has to be placed anew.
    Failed(String),
}

/// What a scheduler says when the volumes of a pod could not be bound.
pub fn failed(why: &str) -> String {
    format!("running PreBind plugin \"{NAME}\": {why}")
}

/// How far the volumes have come that were asked for, for a pod that goes to `node`.
pub fn progress(asked: &[Asked], node: &NodeName, world: &Snapshot<'_>) -> Progress {
    let Some(ledger) = world.find(node).and_then(|id| world.ledger(id)) else {
        let node = quoted(node.as_str());
        return Progress::Failed(format!("failed to get node {node}: node {node} not found"));
    };
    for one in asked {
        match step(one, &ledger.node, world) {
            Ok(true) => {}
            Ok(false) => return Progress::Waiting,
            Err(why) => return Progress::Failed(why),
        }
    }
    Progress::Done
}

/// Whether this claim has its volume.
fn step(asked: &Asked, node: &Node, world: &Snapshot<'_>) -> Result<bool, String> {
    let catalog = world.catalog();
    let claim = catalog.claims.get(&asked.claim.namespace, &asked.claim.name);
    match &asked.volume {
        ChosenVolume::Existing { name, .. } => {
            let volume = catalog.volumes.named(name);
            let volume = volume.ok_or_else(|| format!("failed to check binding: {}", no_volume(name)))?;
            let claim =
                claim.ok_or_else(|| format!("failed to check binding: {}", no_claim(&asked.claim.name)))?;
            if volume.meta.resource_version < asked.version {
                return Ok(false);
            }
            check_reach(volume, node, world)?;
            if volume.claim.as_ref().is_none_or(|named| named.uid.is_none()) {
                return Err(format!("ClaimRef got reset for pv {}", quoted(name)));
            }
            Ok(claim.is_bound())
        }
        ChosenVolume::Provisioned => {
            let why = || format!("failed to check provisioning pvc: {}", no_claim(&asked.claim.name));
            provisioned(claim.ok_or_else(why)?, asked.version, node, world)
        }
    }
}

/// Whether a claim has the volume that is being made for it. Whoever makes it takes the node's name away again when that
/// fails.
fn provisioned(
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
        // It may be on its way; and if it is gone, the claim will say so.
        let Some(volume) = world.catalog().volumes.named(name) else { return Ok(false) };
        check_reach(volume, node, world)?;
    }
    Ok(claim.is_bound())
}

fn check_reach(volume: &PersistentVolume, node: &Node, world: &Snapshot<'_>) -> Result<(), String> {
    if reaches(volume, node, world.catalog())? {
        return Ok(());
    }
    let (volume, node) = (quoted(&volume.meta.name), quoted(node.name.as_str()));
    Err(format!("pv {volume} node affinity doesn't match node {node}: no matching NodeSelectorTerms"))
}
