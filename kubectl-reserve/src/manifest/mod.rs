//! Makes pods from manifests that were not applied: as the API server would store them if they were created now. [`read()`] reads
//! files, [`manifest_pods`] makes the pods.

mod read;
mod strict;
mod template;
#[cfg(test)]
mod tests;

pub(crate) use read::read;
pub(crate) use template::{ManifestPod, manifest_pods};
