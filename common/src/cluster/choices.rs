//! What was decided about volumes and claims for pods that were decided on, until the API server says so.
//!
//! A choice is about one version of a volume or a claim. Whatever the API server sends after that counts instead.

use super::catalog::Catalog;
use crate::model::ids::{NodeName, Text, Uid};
use crate::model::storage::{ChosenVolume, ClaimRef, PersistentVolume, PersistentVolumeClaim, VolumeChoice};
use std::collections::BTreeMap;

/// The choices.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// The claims that volumes were chosen for, by the volume.
    volumes: BTreeMap<Text, Choice<ClaimRef>>,
    /// The nodes that volumes are to be made for, by namespace and name of the claim.
    claims: BTreeMap<(Text, Text), Choice<NodeName>>,
}

#[derive(Clone, Debug)]
struct Choice<T> {
    pod: Uid,
    version: u64,
    what: T,
}

impl Choices {
    /// The claim that has the volume, or will have it.
    pub fn claim_of<'c>(&'c self, volume: &'c PersistentVolume) -> Option<&'c ClaimRef> {
        let chosen = self.volumes.get(&volume.meta.name);
        let chosen = chosen.filter(|choice| choice.version == volume.meta.resource_version);
        chosen.map(|choice| &choice.what).or(volume.claim.as_deref())
    }

    /// The node for which the claim's volume is being made, or will be.
    pub fn node_of<'c>(&'c self, claim: &'c PersistentVolumeClaim) -> Option<&'c NodeName> {
        // Mostly there are none, and then nothing needs to be looked up.
        let chosen = if self.claims.is_empty() { None } else { self.claims.get(&key(claim)) };
        let chosen = chosen.filter(|choice| choice.version == claim.meta.resource_version);
        chosen.map(|choice| &choice.what).or(claim.selected_node.as_ref())
    }

    /// Notes what was chosen for a pod that goes to `node`.
    pub(super) fn note(&mut self, pod: &Uid, node: &NodeName, choices: Vec<VolumeChoice>) {
        for VolumeChoice { claim, claim_version, volume } in choices {
            match volume {
                ChosenVolume::Existing { name, version } => {
                    self.volumes.insert(name, Choice { pod: pod.clone(), version, what: claim });
                }
                ChosenVolume::Provisioned => {
                    let choice = Choice { pod: pod.clone(), version: claim_version, what: node.clone() };
                    self.claims.insert((claim.namespace, claim.name), choice);
                }
            }
        }
    }

    /// Takes back what was chosen for a pod.
    pub(super) fn forget(&mut self, pod: &Uid) {
        self.volumes.retain(|_, choice| choice.pod != *pod);
        self.claims.retain(|_, choice| choice.pod != *pod);
    }

    /// Drops what the API server has overtaken.
    pub(super) fn prune(&mut self, catalog: &Catalog) {
        self.volumes.retain(|name, choice| {
            let known = catalog.volumes.named(name);
            known.is_some_and(|known| known.meta.resource_version == choice.version)
        });
        self.claims.retain(|(namespace, name), choice| {
            let known = catalog.claims.get(namespace, name);
            known.is_some_and(|known| known.meta.resource_version == choice.version)
        });
    }
}

fn key(claim: &PersistentVolumeClaim) -> (Text, Text) {
    (claim.meta.namespace.clone(), claim.meta.name.clone())
}
