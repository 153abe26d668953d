//! What is written for a chosen volume before the pod is bound.

use crate::api::volume_writes::{node_for_claim, volume_for_claim};
use crate::cluster::Catalog;
use crate::framework::PreparedClaim;
use crate::model::storage::ChosenVolume;
use crate::model::{Claim, NodeName, ObjectWrite, VolumeChoice};

/// The choice for a pod that goes to `node`, with its write.
pub(super) fn prepared(choice: &VolumeChoice, node: &NodeName, catalog: &Catalog) -> PreparedClaim {
    let write = write(choice, node, catalog);
    let version = match (&write, &choice.volume) {
        (Some(_), _) => u64::MAX,
        (None, ChosenVolume::Existing { version, .. }) => *version,
        (None, ChosenVolume::Provisioned) => choice.claim_version,
    };
    PreparedClaim { claim: Claim::Volume(choice.clone()), write, version }
}

/// The write for one claim; `None` if the object is as wanted already.
fn write(choice: &VolumeChoice, node: &NodeName, catalog: &Catalog) -> Option<ObjectWrite> {
    let (claim, claim_version) = (&choice.claim, choice.claim_version);
    match &choice.volume {
        ChosenVolume::Existing { name, version } => {
            let known = catalog.volumes.named(name).and_then(|volume| volume.claim.as_deref());
            let known = known.filter(|known| known.name == claim.name && known.namespace == claim.namespace);
            if known.is_some_and(|known| known.uid == claim.uid) {
                return None;
            }
            Some(volume_for_claim(name, *version, claim, claim_version, known.is_none()))
        }
        ChosenVolume::Provisioned => {
            let known = catalog.claims.get(&claim.namespace, &claim.name);
            let is_written = known.is_some_and(|known| known.selected_node.as_ref() == Some(node));
            (!is_written).then(|| node_for_claim(claim, claim_version, node))
        }
    }
}
