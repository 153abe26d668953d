//! Nominations of waiting pods that we decided and that the API server has not sent back yet.
//!
//! The room that preemption frees is kept for the pod from the moment of the decision. Until the write is answered, everything
//! that the API server sends about the pod is older than the decision. After that, a version at least as new as the answer counts.
//! Order of calls: [`Cluster::nominate_to`], then [`Cluster::nomination_written`].

use crate::cluster::belief::apply::nominated_room_freed;
use crate::cluster::{Change, Cluster};
use crate::model::{NodeName, Pod, PodKey, Uid};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(in crate::cluster) struct Nominations {
    by_pod: BTreeMap<Uid, Nomination>,
}

/// A nomination that was decided; `node` is `None` if the pod is to lose its nomination.
#[derive(Debug)]
struct Nomination {
    node: Option<Box<NodeName>>,
    /// The version of the pod that has the nomination, once the write was answered.
    version: Option<u64>,
}

impl Nominations {
    /// Sets the nominated node of `pod`, as the API server sent it, to the decided one, unless the sent one is newer.
    pub(in crate::cluster) fn correct(&mut self, pod: &mut Pod) {
        let Some(nomination) = self.by_pod.get(&pod.uid) else { return };
        if !pod.is_waiting() || nomination.version.is_some_and(|version| version <= pod.resource_version) {
            self.forget(&pod.uid);
        } else {
            pod.nominated_node.clone_from(&nomination.node);
        }
    }

    pub(in crate::cluster) fn forget(&mut self, uid: &Uid) {
        self.by_pod.remove(uid);
    }
}

impl Cluster {
    /// Nominates the waiting pod under `key` to `node`, or to none, before the API server sends it back.
    pub fn nominate_to(&mut self, key: &PodKey, uid: &Uid, node: Option<NodeName>) -> Vec<Change> {
        let Some(pod) = self.pods.get(key).filter(|pod| pod.uid == *uid && pod.is_waiting()).cloned() else {
            return Vec::new();
        };
        let node = node.map(Box::new);
        let nomination = Nomination { node: node.clone(), version: None };
        self.nominations.by_pod.insert(uid.clone(), nomination);
        if pod.nominated_node == node {
            return Vec::new();
        }
        self.unnominate(&pod);
        let freed = if self.is_assumed(key) { None } else { nominated_room_freed(&pod) };
        let pod = Arc::new(Pod { nominated_node: node, ..Pod::clone(&pod) });
        self.pods.insert(Arc::clone(&pod));
        if !self.is_assumed(key) {
            self.nominate(pod);
        }
        freed.into_iter().collect()
    }

    /// The write of a nomination was answered. `version` is the version of the pod with the nomination; `None` if nothing was
    /// written, so that the next event about the pod counts.
    pub fn nomination_written(&mut self, uid: &Uid, version: Option<u64>) {
        match (self.nominations.by_pod.get_mut(uid), version) {
            (Some(nomination), Some(version)) => nomination.version = Some(version),
            _ => self.nominations.forget(uid),
        }
    }
}
