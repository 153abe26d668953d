//! Where waiting pods are nominated to, as far as we decided it and the API server has not said it yet.
//!
//! Room that is being made for a pod must be kept for it from the moment of the decision. Until the write is answered,
//! whatever the API server sends about the pod is older than the decision; after that, what is as new as the answer
//! counts.

use super::apply::freed_by;
use super::{Change, Cluster};
use crate::model::Pod;
use crate::model::ids::{NodeName, PodKey, Uid};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The decisions that were not seen yet, by pod.
#[derive(Debug, Default)]
pub(super) struct Nominations {
    decided: BTreeMap<Uid, Decided>,
}

/// One of them.
#[derive(Debug)]
struct Decided {
    node: Option<Box<NodeName>>,
    /// The version of the pod that says so, once the write was answered.
    version: Option<u64>,
}

impl Nominations {
    /// Lets the newer of both say where the pod is nominated to: the pod as it was sent, or the decision.
    pub(super) fn correct(&mut self, pod: &mut Pod) {
        let Some(decided) = self.decided.get(&pod.uid) else { return };
        if !pod.is_waiting() || decided.version.is_some_and(|version| version <= pod.resource_version) {
            self.forget(&pod.uid);
        } else {
            pod.nominated.clone_from(&decided.node);
        }
    }

    /// The pod is gone.
    pub(super) fn forget(&mut self, uid: &Uid) {
        self.decided.remove(uid);
    }
}

impl Cluster {
    /// Believes that the waiting pod under `key` is nominated to `node`, or to none, before the API server says so.
    pub fn nominate_to(&mut self, key: &PodKey, uid: &Uid, node: Option<NodeName>) -> Vec<Change> {
        let Some(pod) = self.pods.get(key).filter(|pod| pod.uid == *uid && pod.is_waiting()).cloned() else {
            return Vec::new();
        };
        let node = node.map(Box::new);
        let decided = Decided { node: node.clone(), version: None };
        self.nominations.decided.insert(uid.clone(), decided);
        if pod.nominated == node {
            return Vec::new();
        }
        self.unnominate(&pod);
        let freed = if self.is_assumed(key) { None } else { freed_by(&pod) };
        let pod = Arc::new(Pod { nominated: node, ..Pod::clone(&pod) });
        self.pods.insert(Arc::clone(&pod));
        if !self.is_assumed(key) {
            self.nominate(pod);
        }
        freed.into_iter().collect()
    }

    /// Learns that the nomination of a pod was written, and which version of the pod says so; `None` if it was not
    /// written, so that whatever comes next counts.
    pub fn nomination_written(&mut self, uid: &Uid, version: Option<u64>) {
        match (self.nominations.decided.get_mut(uid), version) {
            (Some(decided), Some(version)) => decided.version = Some(version),
            _ => self.nominations.forget(uid),
        }
    }
}
