//! Pods whose place is to be kept when they are deleted, and cannot be: what is known of that before they are deleted.

use super::Cluster;
use super::keeping::{NotKept, reservation};
use super::replacing::owner;
use super::whose::Asker;
use crate::api::reservation::{INFO_LEN_MAX, encode};
use crate::model::Pod;

/// By how much longer a record can be when the pod is deleted: versions grow, and times have fractions of seconds.
const SPARE: usize = 32;
/// More than everything in a record takes but ports and resources with names of their own: four names of 253 letters at most, a
/// namespace, and ids.
const NAMES: usize = 2048;
/// More than one host port takes, with an address.
const PORT: usize = 120;
/// More than one resource takes besides its name.
const RESOURCE: usize = 40;

impl Cluster {
    /// Why no place will be kept for `pod`, although it, an owner or its namespace asks for that: its record would be too long.
    pub fn unprotected(&self, pod: &Pod) -> Option<NotKept> {
        let scalars = pod.spec.requests.counted().scalars();
        let resources: usize = scalars.map(|(name, _)| name.len() + RESOURCE).sum();
        let is_short = NAMES + pod.spec.ports.len() * PORT + resources <= INFO_LEN_MAX;
        if is_short || !pod.is_counted() {
            return None;
        }
        let asker = Asker::new(pod, &self.owners);
        self.life_for(&asker)?;
        let owner = owner(&asker, &self.owners).ok()?;
        let reservation = reservation(pod, owner, self.now, self.now).ok()?;
        let why = match encode(&reservation) {
            Err(error) => error.to_string(),
            Ok(annotations) if annotations.iter().any(|(_, value)| value.len() + SPARE > INFO_LEN_MAX) => {
                format!("the record can become longer than {INFO_LEN_MAX} bytes")
            }
            Ok(_) => return None,
        };
        Some(NotKept::Unwritable(why.into()))
    }
}
