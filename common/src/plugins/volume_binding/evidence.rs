//! Which volume or claim of the pod is the reason for a rejection.

use crate::cluster::{Catalog, Ledger};
use crate::framework::{Evidence, RefusalCode};
use crate::model::{PersistentVolume, PersistentVolumeClaim, Pod, Text};
use crate::plugins::claims;

/// The volume that the node cannot reach, or the claim that has no volume.
pub(super) fn evidence(code: RefusalCode, pod: &Pod, catalog: &Catalog, ledger: &Ledger) -> Option<Evidence> {
    let names = pod.spec.volumes.iter().filter_map(|volume| volume.claim_name(&pod.key.name));
    let mut claims = names.filter_map(|name| claims::get(catalog, pod, &name));
    match code {
        RefusalCode::VolumeElsewhere => {
            let mut volumes = claims.filter_map(|claim| catalog.volumes.named(claim.volume_name.as_ref()?));
            volumes.find_map(|volume| out_of_reach(volume, ledger))
        }
        _ => claims.find(|claim| claim.volume_name.is_none()).map(unbound_claim),
    }
}

fn unbound_claim(claim: &PersistentVolumeClaim) -> Evidence {
    Evidence::UnboundClaim { claim: claim.meta.name.clone(), class: claim.class.clone() }
}

fn out_of_reach(volume: &PersistentVolume, ledger: &Ledger) -> Option<Evidence> {
    let node = &ledger.node;
    let nodes = volume.nodes.as_ref().filter(|nodes| !nodes.matches(&node.labels, node.name.as_str()))?;
    let mut requirements = nodes.terms.iter().flat_map(|term| term.expressions());
    let requirement = requirements.find(|one| !one.matches(&node.labels)).cloned();
    let has = requirement.as_ref().and_then(|one| node.labels.get(&one.key)).map(Text::from);
    Some(Evidence::VolumeElsewhere { volume: volume.meta.name.clone(), requirement, has })
}
