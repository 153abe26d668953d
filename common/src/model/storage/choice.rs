//! What is decided about a claim when its pod is placed, before anybody carries it out.

use super::claim::PersistentVolumeClaim;
use super::volume::{ClaimRef, PersistentVolume};
use crate::model::ids::Text;

/// What becomes of a claim that waited for its first consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeChoice {
    /// The claim.
    pub claim: ClaimRef,
    /// The version of the claim that it was decided by.
    pub claim_version: u64,
    /// What it gets.
    pub volume: ChosenVolume,
}

/// What a claim gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenVolume {
    /// A volume that is there: it is to name the claim.
    Existing {
        /// The volume's name.
        name: Text,
        /// The version of the volume that it was decided by.
        version: u64,
    },
    /// One that has to be made for the pod's node: the claim is to name the node.
    Provisioned,
}

impl VolumeChoice {
    /// `claim` gets `volume`.
    pub fn existing(claim: &PersistentVolumeClaim, volume: &PersistentVolume) -> Self {
        let (name, version) = (volume.meta.name.clone(), volume.meta.resource_version);
        Self { volume: ChosenVolume::Existing { name, version }, ..Self::provisioned(claim) }
    }

    /// A volume is made for `claim`.
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
