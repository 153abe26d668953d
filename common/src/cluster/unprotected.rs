//! Pods whose place is to be kept when they are deleted, and cannot be: what is known of that before they are deleted.

use super::Cluster;
use super::automatic::{NotKept, reservation};
use super::eligibility::PodContext;
use super::replacing::owner;
use crate::api::reservation::{INFO_LEN_MAX, encode};
use crate::model::{Moment, Pod};

/// By how much longer a record can be when the pod is deleted: versions grow, and times have fractions of seconds.
const SPARE: usize = 32;
/// More than everything in a record takes but ports and resources with names of their own: four names of 253 letters at most, a
/// namespace, and ids.
const NAMES: usize = 2048;
/// More than one host port takes, with an address.
const PORT: usize = 120;
/// More than one resource takes besides its name.
const RESOURCE: usize = 40;

/// Whether the record of the pod can be too long. Of few pods it can, and the others are told apart without writing it.
pub(super) fn can_be_too_long(pod: &Pod) -> bool {
    let scalars = pod.spec.requests.counted().scalars();
    let resources: usize = scalars.map(|(name, _)| name.len() + RESOURCE).sum();
    NAMES + pod.spec.ports.len() * PORT + resources > INFO_LEN_MAX
}

impl Cluster {
    /// Why no place will be kept for `pod`, although it, an owner or its namespace asks for that: its record would be too long.
    pub fn unprotected(&self, pod: &Pod) -> Option<NotKept> {
        if !can_be_too_long(pod) || !pod.is_counted() {
            return None;
        }
        let pod_context = PodContext::new(pod, &self.owners);
        self.life_for(&pod_context)?;
        let owner = owner(&pod_context, &self.owners).ok()?;
        // Whenever it is asked, the answer is the same: times of whole seconds are of one length.
        let now = Moment::of(self.now).time();
        let reservation = reservation(pod, owner, now, now).ok()?;
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
