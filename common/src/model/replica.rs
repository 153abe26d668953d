//! A replica of the daemon, as its Lease tells: what it has seen of the cluster, and for whom it speaks.

use super::ids::Text;
use super::object::{Meta, Object};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// One replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    /// Its Lease's name, and what else identifies that.
    pub meta: Meta,
    /// Its own name.
    pub name: Text,
    /// The newest version of a node that it has seen: it knows of every write to a node up to that one.
    pub seen_nodes: u64,
    /// The newest version of a pod that it has seen.
    pub seen_pods: u64,
    /// The scheduler names whose pods it places, sorted. A replica that does not lead has none.
    pub schedulers: Box<[Text]>,
    /// The scheduler names whose pods it lately answered for as an extender, sorted.
    pub extends: Box<[Text]>,
    /// When it last said so, by the API server's time.
    pub renewed: Option<Timestamp>,
    /// How long its word is good.
    pub duration: Duration,
    /// Which version of the program it is.
    pub version: Text,
    /// Whether it may not write reservations: it honours those of others, and makes and releases none.
    pub is_restricted: bool,
}

impl Replica {
    /// Whether its word is good at `now`, by the API server's time. A word from the future is as stale as one from the
    /// past: it would be good for ever.
    pub fn is_live(&self, now: Timestamp) -> bool {
        let Ok(duration) = SignedDuration::try_from(self.duration) else { return false };
        self.renewed.is_some_and(|renewed| now.duration_since(renewed).abs() < duration)
    }

    /// Whether it has seen these versions of a node and of a pod, or newer ones.
    pub fn has_seen(&self, node_version: u64, pod_version: u64) -> bool {
        self.seen_nodes >= node_version && self.seen_pods >= pod_version
    }
}

impl Object for Replica {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn meta_mut(&mut self) -> &mut Meta {
        &mut self.meta
    }
}
