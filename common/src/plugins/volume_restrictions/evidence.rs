//! Which other pod uses the claim or the disk.

use crate::cluster::{Ledger, Snapshot};
use crate::framework::Evidence;
use crate::model::Pod;

/// The first claim of the pod that another pod uses, on any node.
pub(super) fn claim_in_use(pod: &Pod, world: &Snapshot<'_>) -> Option<Evidence> {
    let names = pod.spec.volumes.iter().filter_map(|volume| volume.claim_name(&pod.key.name));
    names.into_iter().find_map(|name| {
        let is_user = |other: &Pod| {
            let mut others = other.spec.volumes.iter().filter_map(|own| own.claim_name(&other.key.name));
            other.uid != pod.uid && other.key.namespace == pod.key.namespace && others.any(|own| own == name)
        };
        let user = world.nodes().flat_map(|ledger| &ledger.pods).find(|other| is_user(other))?;
        Some(Evidence::ClaimInUse { claim: (&*name).into(), pod: user.key.clone() })
    })
}

/// The first disk of the pod that another pod on the node uses.
pub(super) fn disk_in_use(pod: &Pod, ledger: &Ledger) -> Option<Evidence> {
    pod.spec.volumes.iter().find_map(|disk| {
        let is_user = |other: &Pod| other.spec.volumes.iter().any(|own| disk.conflicts_with(own));
        let user = ledger.pods.iter().find(|other| is_user(other))?;
        Some(Evidence::DiskInUse { volume: disk.name.clone(), pod: user.key.clone() })
    })
}
