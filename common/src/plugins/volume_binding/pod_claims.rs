//! The claims of a pod: bound ones, and unbound ones that wait for the first consumer. Entry point: [`pod_claims`].

use crate::cluster::Catalog;
use crate::model::storage::{BindingMode, ClaimPhase};
use crate::model::{PersistentVolumeClaim, Pod, PodVolume, StorageClass};
use crate::plugins::claims;

#[derive(Debug, Default)]
pub(super) struct PodClaims<'w> {
    pub(super) bound: Vec<&'w PersistentVolumeClaim>,
    /// The unbound claims with `WaitForFirstConsumer`, with their classes.
    pub(super) delayed: Vec<(&'w PersistentVolumeClaim, &'w StorageClass)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClaimError {
    /// A claim is missing, lost, being deleted or not bound yet.
    NotReady(String),
    Failed(String),
}

pub(super) fn pod_claims<'w>(pod: &Pod, catalog: &'w Catalog) -> Result<PodClaims<'w>, ClaimError> {
    let mut all = Vec::new();
    for volume in pod.spec.volumes.iter().filter(|volume| claims::is_claim(volume)) {
        all.push(ready(volume, pod, catalog).map_err(ClaimError::NotReady)?);
    }
    let mut pod_claims = PodClaims::default();
    let mut is_unbound = false;
    for claim in all {
        if claim.is_bound() {
            pod_claims.bound.push(claim);
            continue;
        }
        match delayed(claim, catalog)?.filter(|_| claim.volume_name.is_none()) {
            Some(class) => pod_claims.delayed.push((claim, class)),
            None => is_unbound = true,
        }
    }
    if is_unbound {
        return Err(ClaimError::NotReady("pod has unbound immediate PersistentVolumeClaims".to_owned()));
    }
    Ok(pod_claims)
}

/// The claim of a pod volume, if it exists and is usable.
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
            claims::claim_not_found(&name)
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

/// The class of a claim, if it has `WaitForFirstConsumer`.
fn delayed<'w>(
    claim: &PersistentVolumeClaim,
    catalog: &'w Catalog,
) -> Result<Option<&'w StorageClass>, ClaimError> {
    let class = claim.class.as_deref().and_then(|name| catalog.classes.named(name));
    let Some(class) = class else { return Ok(None) };
    match class.binding_mode {
        Some(BindingMode::WaitForFirstConsumer) => Ok(Some(class)),
        Some(BindingMode::Immediate) => Ok(None),
        None => Err(ClaimError::Failed(claims::binding_mode_not_set(&class.meta.name))),
    }
}
