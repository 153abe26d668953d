//! Pods whose place is to be kept when they are deleted, and cannot be: what is known of that before they are deleted.

use super::Cluster;
use super::keeping::{NotKept, reservation};
use super::replacing::owner;
use super::whose::Asker;
use crate::api::reservation::encode;
use crate::model::Pod;

/// With so few host ports and resources of its own a pod's record always fits, whatever the names in it.
const SURE_TO_FIT: usize = 16;

impl Cluster {
    /// Why no place will be kept for `pod`, although it, an owner or its namespace asks for that: its record would be too long.
    pub fn unprotected(&self, pod: &Pod) -> Option<NotKept> {
        let parts = pod.spec.ports.len() + pod.spec.requests.counted().scalars().len();
        if parts <= SURE_TO_FIT || !pod.is_counted() {
            return None;
        }
        let asker = Asker::new(pod, &self.owners);
        self.life_for(&asker)?;
        let owner = owner(&asker, &self.owners).ok()?;
        let reservation = reservation(pod, owner, self.now, self.now).ok()?;
        encode(&reservation).err().map(|error| NotKept::Unwritable(error.to_string().into()))
    }
}
