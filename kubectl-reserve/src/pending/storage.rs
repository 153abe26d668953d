//! Findings about a pod's PersistentVolumeClaims: missing, lost, deleted, or unbound although they do not wait for a consumer.

use super::pod_finding::{PendingInput, blocked, with_sentence};
use crate::explain::PodFinding;
use crate::render::printable;
use common::cluster::Catalog;
use common::model::storage::{BindingMode, ClaimPhase};
use common::model::{CatalogKind, PersistentVolumeClaim, Pod};

/// The finding about the claims of `pod`; `None` if they are fine or cannot be read.
pub(super) fn claim_problem(pod: &Pod, input: &PendingInput<'_>) -> Option<PodFinding> {
    let catalog = input.snapshot.catalog();
    if !catalog.is_readable(CatalogKind::PersistentVolumeClaim) {
        return None;
    }
    let mut found: Vec<PodFinding> = Vec::new();
    for volume in &pod.spec.volumes {
        if let Some(name) = volume.claim_name(&pod.key.name) {
            found.extend(problem_of(pod, &name, catalog, input));
        }
    }
    let mut found = found.into_iter();
    let first = found.next()?;
    Some(found.fold(first, |finding, more| more.words.into_iter().fold(finding, with_sentence)))
}

fn problem_of(pod: &Pod, name: &str, catalog: &Catalog, input: &PendingInput<'_>) -> Option<PodFinding> {
    let shown = printable(name);
    let Some(claim) = catalog.claims.get(&pod.key.namespace, name) else {
        let words =
            format!("PersistentVolumeClaim \"{shown}\" does not exist in namespace {}.", pod.key.namespace);
        return Some(blocked("ClaimMissing", "PVC missing", words));
    };
    if claim.phase == ClaimPhase::Lost {
        let words = format!("PersistentVolumeClaim \"{shown}\" has lost its volume.");
        return Some(blocked("ClaimLost", "PVC lost", words));
    }
    if claim.meta.is_deleting {
        let words = format!("PersistentVolumeClaim \"{shown}\" is being deleted.");
        return Some(blocked("ClaimDeleting", "PVC being deleted", words));
    }
    if claim.is_bound() {
        return None;
    }
    let why = unbound_reason(claim, catalog, input)?;
    Some(blocked(
        "ClaimUnbound",
        "PVC not bound",
        format!("PersistentVolumeClaim \"{shown}\" is not bound: {why}"),
    ))
}

/// Why a claim is not bound; `None` if it is bound once its pod has a node (`WaitForFirstConsumer`).
fn unbound_reason(
    claim: &PersistentVolumeClaim,
    catalog: &Catalog,
    input: &PendingInput<'_>,
) -> Option<String> {
    if let Some(volume) = &claim.volume_name {
        let volume = printable(volume);
        return Some(match catalog.volumes.named(&volume) {
            Some(_) => format!("it waits for PersistentVolume \"{volume}\"."),
            None => format!("PersistentVolume \"{volume}\", which it names, does not exist."),
        });
    }
    let Some(name) = &claim.class else {
        return Some("it names no StorageClass, and no volume matches it.".into());
    };
    let shown = printable(name);
    let Some(class) = catalog.classes.named(name) else {
        return catalog
            .is_readable(CatalogKind::StorageClass)
            .then(|| format!("StorageClass \"{shown}\" does not exist."));
    };
    if class.binding_mode == Some(BindingMode::WaitForFirstConsumer) {
        return None;
    }
    if !class.has_provisioner() {
        return Some(format!(
            "StorageClass \"{shown}\" makes no volumes, and none that is there matches it."
        ));
    }
    let provisioner = printable(&class.provisioner);
    let events = input.diagnostics.about("PersistentVolumeClaim", &claim.meta.namespace, &claim.meta.name);
    let failure = events.iter().find(|event| event.reason == "ProvisioningFailed");
    Some(match failure {
        Some(event) => format!("{provisioner} failed: {}", printable(&event.message)),
        None => {
            format!("{provisioner}, which makes the volumes of StorageClass \"{shown}\", has not made one.")
        }
    })
}
