//! Pods whose automatic reservation would be too long to be written, found before they are deleted. Entry point:
//! [`Cluster::record_too_long`].

use crate::api::reservation::{INFO_LEN_MAX, encode};
use crate::cluster::Cluster;
use crate::cluster::reservations::automatic::reservation;
use crate::cluster::reservations::replacement::reservation_owner;
use crate::cluster::{NotReservedReason, PodContext};
use crate::model::{Moment, Pod};

/// How much longer the record can become until the pod is deleted: versions grow, and times have fractions of seconds.
const SPARE: usize = 32;
/// An upper bound for the length of a record without ports and extended resources: four names of at most 253 letters, a namespace,
/// and ids.
const NAMES: usize = 2048;
/// An upper bound for the length of one host port with an address.
const PORT: usize = 120;
/// An upper bound for the length of one resource without its name.
const RESOURCE: usize = 40;

/// Whether the record of the pod can be too long. This is cheap and excludes almost all pods, without encoding a record.
pub(in crate::cluster) fn can_be_too_long(pod: &Pod) -> bool {
    let scalars = pod.spec.requests.counted().scalars();
    let resources: usize = scalars.map(|(name, _)| name.len() + RESOURCE).sum();
    NAMES + pod.spec.ports.len() * PORT + resources > INFO_LEN_MAX
}

impl Cluster {
    /// Why `pod` will get no automatic reservation although `reserve/keep` applies to it: its record would be too long. `None` if
    /// the record is short enough.
    pub fn record_too_long(&self, pod: &Pod) -> Option<NotReservedReason> {
        if !can_be_too_long(pod) || !pod.is_counted() {
            return None;
        }
        let context = PodContext::new(pod, &self.owners);
        self.reservation_life_for(&context)?;
        let owner = reservation_owner(&context, &self.owners).ok()?;
        // The answer must not depend on the time: times of whole seconds all have the same length.
        let now = Moment::of(self.now).time();
        let reservation = reservation(pod, owner, now, now).ok()?;
        let why = match encode(&reservation) {
            Err(error) => error.to_string(),
            Ok(annotations) if annotations.iter().any(|(_, value)| value.len() + SPARE > INFO_LEN_MAX) => {
                format!("the record can become longer than {INFO_LEN_MAX} bytes")
            }
            Ok(_) => return None,
        };
        Some(NotReservedReason::Unwritable(why.into()))
    }
}
