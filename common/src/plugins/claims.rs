//! The claims that a pod's volumes name, and the words that are used when they are not as they should be.

use crate::cluster::Catalog;
use crate::framework::{Admission, Cure, Reason, Rejection};
use crate::model::Pod;
use crate::model::storage::PersistentVolumeClaim;
use crate::model::volume::{PodVolume, VolumeSource};
use std::fmt::Write;

/// The names of the claims that a pod mounts by name. Those made for it alone are not among them.
pub(super) fn named(pod: &Pod) -> impl Iterator<Item = &str> {
    pod.spec.volumes.iter().filter_map(|volume| match &volume.source {
        VolumeSource::Claim { name } => Some(&**name),
        _ => None,
    })
}

/// Whether the pod mounts any claim.
pub(super) fn has_any(pod: &Pod) -> bool {
    pod.spec.volumes.iter().any(is_claim)
}

/// Whether a claim stands behind the volume.
pub(super) fn is_claim(volume: &PodVolume) -> bool {
    matches!(volume.source, VolumeSource::Claim { .. } | VolumeSource::Ephemeral)
}

/// The claim called `name` in the pod's namespace.
pub(super) fn get<'w>(catalog: &'w Catalog, pod: &Pod, name: &str) -> Option<&'w PersistentVolumeClaim> {
    catalog.claims.get(&pod.key.namespace, name)
}

/// A claim that was made for an ephemeral volume of the pod must be owned by it.
///
/// # Errors
/// When it is not, in upstream's words.
pub(super) fn check_owner(pod: &Pod, claim: &PersistentVolumeClaim) -> Result<(), String> {
    if claim.controller.as_ref() == Some(&pod.uid) {
        return Ok(());
    }
    let meta = &claim.meta;
    let words = "(pod is not owner)";
    Err(format!("PVC {}/{} was not created for pod {} {words}", meta.namespace, meta.name, pod.key))
}

/// A claim that is not there.
pub(super) fn no_claim(name: &str) -> String {
    format!("persistentvolumeclaim {} not found", quoted(name))
}

/// A volume that is not there.
pub(super) fn no_volume(name: &str) -> String {
    format!("persistentvolume {} not found", quoted(name))
}

/// A storage class that is not there.
pub(super) fn no_class(name: &str) -> String {
    format!("storageclass.storage.k8s.io {} not found", quoted(name))
}

/// A storage class that does not say when claims get their volumes.
pub(super) fn no_mode(class: &str) -> String {
    format!("VolumeBindingMode not set for StorageClass {}", quoted(class))
}

/// A refusal before any node is looked at, which preempting pods cannot cure.
pub(super) fn refuses(plugin: &'static str, words: String) -> Admission {
    Admission::Rejects(vec![Rejection::new(plugin, Reason::said_for_good(words, Cure::Storage))])
}

/// A text as Go quotes it.
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
