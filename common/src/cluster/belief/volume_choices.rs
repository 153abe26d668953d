//! Which volumes were chosen for assumed pods, until the API server has it: kube-scheduler's assumed volumes and claims.
//!
//! A choice is about one version of a volume or a claim. A newer version from the API server replaces it.

use crate::cluster::belief::catalog::Catalog;
use crate::model::storage::{ChosenVolume, ClaimRef};
use crate::model::{NodeName, PersistentVolume, PersistentVolumeClaim, Text, Uid, VolumeChoice};
use std::collections::BTreeMap;

/// The volumes and claims that were chosen for pods and not written yet.
#[derive(Clone, Debug, Default)]
pub struct VolumeChoices {
    /// The claim that each volume was chosen for, by the name of the volume.
    volumes: BTreeMap<Text, VersionedChoice<ClaimRef>>,
    /// The node for which a volume is to be provisioned, by namespace and name of the claim.
    claims: BTreeMap<(Text, Text), VersionedChoice<NodeName>>,
}

#[derive(Clone, Debug)]
struct VersionedChoice<T> {
    pod: Uid,
    version: u64,
    value: T,
}

impl VolumeChoices {
    /// The claim that the volume is bound to or was chosen for.
    pub fn claim_of<'c>(&'c self, volume: &'c PersistentVolume) -> Option<&'c ClaimRef> {
        let chosen = self.volumes.get(&volume.meta.name);
        let chosen = chosen.filter(|choice| choice.version == volume.meta.resource_version);
        chosen.map(|choice| &choice.value).or(volume.claim.as_deref())
    }

    /// The node for which the claim's volume is or will be provisioned.
    pub fn node_of<'c>(&'c self, claim: &'c PersistentVolumeClaim) -> Option<&'c NodeName> {
        // Mostly there are no choices, and then the lookup is skipped.
        let chosen = if self.claims.is_empty() { None } else { self.claims.get(&key(claim)) };
        let chosen = chosen.filter(|choice| choice.version == claim.meta.resource_version);
        chosen.map(|choice| &choice.value).or(claim.selected_node.as_ref())
    }

    /// Notes what was chosen for a pod that goes to `node`.
    pub(in crate::cluster) fn note<'c>(
        &mut self,
        pod: &Uid,
        node: &NodeName,
        choices: impl Iterator<Item = &'c VolumeChoice>,
    ) {
        for VolumeChoice { claim, claim_version, volume } in choices {
            let pod = pod.clone();
            match volume {
                ChosenVolume::Existing { name, version } => {
                    let choice = VersionedChoice { pod, version: *version, value: claim.clone() };
                    self.volumes.insert(name.clone(), choice);
                }
                ChosenVolume::Provisioned => {
                    let choice = VersionedChoice { pod, version: *claim_version, value: node.clone() };
                    self.claims.insert((claim.namespace.clone(), claim.name.clone()), choice);
                }
            }
        }
    }

    pub(in crate::cluster) fn forget(&mut self, pod: &Uid) {
        self.volumes.retain(|_, choice| choice.pod != *pod);
        self.claims.retain(|_, choice| choice.pod != *pod);
    }

    /// Drops choices about versions that are no longer the current ones.
    pub(in crate::cluster) fn prune(&mut self, catalog: &Catalog) {
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
