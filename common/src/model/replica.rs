//! A replica of the daemon, as its Lease describes it: which versions of objects it has seen, and which schedulers' pods it
//! handles.

use super::{Object, ObjectMeta, Text};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// A running daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    pub meta: ObjectMeta,
    pub name: Text,
    /// The newest `resourceVersion` of a node that it has seen: it knows of every write to a node up to this version.
    pub seen_nodes: u64,
    /// The newest `resourceVersion` of a pod that it has seen.
    pub seen_pods: u64,
    /// The scheduler names whose pods it schedules, sorted. Empty for a replica that does not lead.
    pub schedulers: Box<[Text]>,
    /// The scheduler names whose pods kube-scheduler recently asked it about as an extender, sorted.
    pub extends: Box<[Text]>,
    /// When the Lease was last renewed, by the API server's time.
    pub renew_time: Option<Timestamp>,
    /// How long the Lease is valid after `renew_time`.
    pub duration: Duration,
    /// The version of the program.
    pub version: Text,
    /// Whether it must not write reservations: it enforces existing ones, and neither makes nor releases any.
    pub is_restricted: bool,
}

impl Replica {
    /// Whether the Lease is valid at `now`, by the API server's time. A renewal too far in the future counts as expired, too:
    /// otherwise the Lease would be valid for ever.
    pub fn is_live(&self, now: Timestamp) -> bool {
        let Ok(duration) = SignedDuration::try_from(self.duration) else { return false };
        self.renew_time.is_some_and(|renewed| now.duration_since(renewed).abs() < duration)
    }
}

impl Object for Replica {
    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}
