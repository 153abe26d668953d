//! Helpers for the volume plugins: the claims of a pod, and the error texts of kube-scheduler about claims, volumes and classes.

use crate::cluster::Catalog;
use crate::framework::{Admission, BlockerClass, RefusalCode, RefusalKind, Rejection};
use crate::model::Pod;
use crate::model::storage::PersistentVolumeClaim;
use crate::model::volume::{PodVolume, VolumeSource};
use std::fmt::Write;

/// The pod's claims, volumes or classes are not usable, whatever the node.
const UNUSABLE: RefusalKind = RefusalKind::unresolvable(RefusalCode::Refused, BlockerClass::Storage);

/// The names of the claims that a pod mounts by name; claims of ephemeral volumes are not included.
pub(super) fn claim_names(pod: &Pod) -> impl Iterator<Item = &str> {
    pod.spec.volumes.iter().filter_map(|volume| match &volume.source {
        VolumeSource::Claim { name } => Some(&**name),
        _ => None,
    })
}

pub(super) fn has_any(pod: &Pod) -> bool {
    pod.spec.volumes.iter().any(is_claim)
}

pub(super) fn is_claim(volume: &PodVolume) -> bool {
    matches!(volume.source, VolumeSource::Claim { .. } | VolumeSource::Ephemeral)
}

/// Whether the pod mounts this claim by its name, or (`or_ephemeral`) as one that is made for the pod.
pub(super) fn mounts(pod: &Pod, claim: &PersistentVolumeClaim, or_ephemeral: bool) -> bool {
    let is_it = |volume: &PodVolume| {
        (or_ephemeral || !volume.is_ephemeral())
            && volume.claim_name(&pod.key.name).as_deref() == Some(&*claim.meta.name)
    };
    pod.key.namespace == claim.meta.namespace && pod.spec.volumes.iter().any(is_it)
}

pub(super) fn get<'w>(catalog: &'w Catalog, pod: &Pod, name: &str) -> Option<&'w PersistentVolumeClaim> {
    catalog.claims.get(&pod.key.namespace, name)
}

/// Checks that the claim of an ephemeral volume is owned by the pod.
///
/// # Errors
/// When it is not, with the text of kube-scheduler.
pub(super) fn check_owner(pod: &Pod, claim: &PersistentVolumeClaim) -> Result<(), String> {
    if claim.controller.as_ref() == Some(&pod.uid) {
        return Ok(());
    }
    let meta = &claim.meta;
    let words = "(pod is not owner)";
    Err(format!("PVC {}/{} was not created for pod {} {words}", meta.namespace, meta.name, pod.key))
}

pub(super) fn claim_not_found(name: &str) -> String {
    format!("persistentvolumeclaim {} not found", quoted(name))
}

pub(super) fn volume_not_found(name: &str) -> String {
    format!("persistentvolume {} not found", quoted(name))
}

/// The error text for a storage class that does not exist.
pub(super) fn class_not_found(name: &str) -> String {
    format!("storageclass.storage.k8s.io {} not found", quoted(name))
}

/// The error text for a storage class without a volume binding mode.
pub(super) fn binding_mode_not_set(class: &str) -> String {
    format!("VolumeBindingMode not set for StorageClass {}", quoted(class))
}

/// A rejection of the pod for all nodes that preemption cannot help.
pub(super) fn reject(plugin: &'static str, message: String) -> Admission {
    Admission::Rejects(vec![Rejection::new(plugin, UNUSABLE.with(message))])
}

/// The text quoted as Go's `%q` does it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\0'..='\u{1f}' | '\u{7f}' => drop(write!(quoted, "\\x{:02x}", u32::from(letter))),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn texts_are_quoted_as_go_does() {
        assert_eq!(quoted("data"), "\"data\"");
        assert_eq!(quoted("a\"b\\c\n\u{1}\u{7f}é"), "\"a\\\"b\\\\c\\n\\x01\\x7fé\"");
    }
}
