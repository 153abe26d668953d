//! Claims that are missing, or have no volume although no pod need come first.

use super::level::{View, and, blocked};
use crate::explain::Stated;
use crate::render::printable;
use common::cluster::Catalog;
use common::model::storage::{BindingMode, ClaimPhase, PersistentVolumeClaim};
use common::model::{OtherKind, Pod};

/// What is wrong with the claims of `pod`, if that can be told.
pub(super) fn unready(pod: &Pod, view: &View<'_>) -> Option<Stated> {
    let catalog = view.snapshot.catalog();
    if !catalog.is_readable(OtherKind::PersistentVolumeClaim) {
        return None;
    }
    let mut found: Vec<Stated> = Vec::new();
    for volume in &pod.spec.volumes {
        if let Some(name) = volume.claim_name(&pod.key.name) {
            found.extend(one(pod, &name, catalog, view));
        }
    }
    let mut found = found.into_iter();
    let first = found.next()?;
    Some(found.fold(first, |stated, more| more.words.into_iter().fold(stated, and)))
}

fn one(pod: &Pod, name: &str, catalog: &Catalog, view: &View<'_>) -> Option<Stated> {
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
    let why = unbound(claim, catalog, view)?;
    Some(blocked(
        "ClaimUnbound",
        "PVC not bound",
        format!("PersistentVolumeClaim \"{shown}\" is not bound: {why}"),
    ))
}

/// Why a claim has no volume; nothing if it gets one when its pod has a node.
fn unbound(claim: &PersistentVolumeClaim, catalog: &Catalog, view: &View<'_>) -> Option<String> {
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
            .is_readable(OtherKind::StorageClass)
            .then(|| format!("StorageClass \"{shown}\" does not exist."));
    };
    if class.binding_mode == Some(BindingMode::WaitForFirstConsumer) {
        return None;
    }
    if !class.is_provisioned() {
        return Some(format!(
            "StorageClass \"{shown}\" makes no volumes, and none that is there matches it."
        ));
    }
    let provisioner = printable(&class.provisioner);
    let events = view.notes.about("PersistentVolumeClaim", &claim.meta.namespace, &claim.meta.name);
    let said = events.iter().find(|event| event.reason == "ProvisioningFailed");
    Some(match said {
        Some(event) => format!("{provisioner} failed: {}", printable(&event.message)),
        None => {
            format!("{provisioner}, which makes the volumes of StorageClass \"{shown}\", has not made one.")
        }
    })
}
