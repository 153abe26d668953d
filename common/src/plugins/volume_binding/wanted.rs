//! What a pod claims: volumes that it has, and such as it gets when it has its node.

use crate::cluster::Catalog;
use crate::model::Pod;
use crate::model::storage::{BindingMode, ClaimPhase, PersistentVolumeClaim, StorageClass};
use crate::model::volume::PodVolume;
use crate::plugins::claims;

/// What a pod claims.
#[derive(Debug, Default)]
pub(super) struct Wanted<'w> {
    /// The claims that have their volumes.
    pub(super) bound: Vec<&'w PersistentVolumeClaim>,
    /// The claims that wait for the pod to have its node, with their classes.
    pub(super) late: Vec<(&'w PersistentVolumeClaim, &'w StorageClass)>,
}

/// Why the pod cannot be placed, whatever the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// A claim is not as far as it has to be.
    Unready(String),
    /// Something is wrong.
    Wrong(String),
}

/// What `pod` claims.
pub(super) fn wanted<'w>(pod: &Pod, catalog: &'w Catalog) -> Result<Wanted<'w>, Problem> {
    let mut all = Vec::new();
    for volume in pod.spec.volumes.iter().filter(|volume| claims::is_claim(volume)) {
        all.push(ready(volume, pod, catalog).map_err(Problem::Unready)?);
    }
    let mut wanted = Wanted::default();
    let mut is_unbound = false;
    for claim in all {
        if claim.is_bound() {
            wanted.bound.push(claim);
            continue;
        }
        match late(claim, catalog)?.filter(|_| claim.volume_name.is_none()) {
            Some(class) => wanted.late.push((claim, class)),
            None => is_unbound = true,
        }
    }
    if is_unbound {
        return Err(Problem::Unready("pod has unbound immediate PersistentVolumeClaims".to_owned()));
    }
    Ok(wanted)
}

/// The claim of a volume, if it is there and will stay.
fn ready<'w>(
    volume: &PodVolume,
    pod: &Pod,
    catalog: &'w Catalog,
) -> Result<&'w PersistentVolumeClaim, String> {
    let name = volume.claim_name(&pod.key.name).unwrap_or_default();
    let claim = claims::get(catalog, pod, &name).ok_or_else(|| {
        if volume.is_ephemeral() {
            let words = "waiting for ephemeral volume controller to create the persistentvolumeclaim";
            format!("{words} {}", claims::quoted(&name))
        } else {
            claims::no_claim(&name)
        }
    })?;
    let quoted = claims::quoted(&claim.meta.name);
    if claim.phase == ClaimPhase::Lost {
        let volume = claims::quoted(claim.volume_name.as_deref().unwrap_or_default());
        return Err(format!(
            "persistentvolumeclaim {quoted} bound to non-existent persistentvolume {volume}"
        ));
    }
    if claim.meta.is_deleting {
        return Err(format!("persistentvolumeclaim {quoted} is being deleted"));
    }
    if volume.is_ephemeral() {
        claims::check_owner(pod, claim)?;
    }
    Ok(claim)
}

/// The class of a claim, if that waits for the first consumer.
fn late<'w>(
    claim: &PersistentVolumeClaim,
    catalog: &'w Catalog,
) -> Result<Option<&'w StorageClass>, Problem> {
    let class = claim.class.as_deref().and_then(|name| catalog.classes.named(name));
    let Some(class) = class else { return Ok(None) };
    match class.binding_mode {
        Some(BindingMode::WaitForFirstConsumer) => Ok(Some(class)),
        Some(BindingMode::Immediate) => Ok(None),
        None => Err(Problem::Wrong(claims::no_mode(&class.meta.name))),
    }
}
