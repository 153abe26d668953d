//! The decision about a claim that is made when its pod is scheduled, before it is written to the API server.

use super::claim::PersistentVolumeClaim;
use super::volume::{ClaimRef, PersistentVolume};
use crate::model::ids::Text;

/// The decision about a claim that waited for its first consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeChoice {
    pub claim: ClaimRef,
    /// The version of the claim on which the decision is based.
    pub claim_version: u64,
    pub volume: ChosenVolume,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenVolume {
    /// An existing volume, in the version on which the decision is based. Its `claimRef` must be set to the claim.
    Existing { name: Text, version: u64 },
    /// A volume that must be provisioned for the pod's node. The claim must be annotated with the node.
    Provisioned,
}

impl VolumeChoice {
    pub fn existing(claim: &PersistentVolumeClaim, volume: &PersistentVolume) -> Self {
        let (name, version) = (volume.meta.name.clone(), volume.meta.resource_version);
        Self { volume: ChosenVolume::Existing { name, version }, ..Self::provisioned(claim) }
    }

    pub fn provisioned(claim: &PersistentVolumeClaim) -> Self {
        let meta = &claim.meta;
        let (namespace, name) = (meta.namespace.clone(), meta.name.clone());
        Self {
            claim: ClaimRef { namespace, name, uid: Some(meta.uid.clone()) },
            claim_version: meta.resource_version,
            volume: ChosenVolume::Provisioned,
        }
    }
}
