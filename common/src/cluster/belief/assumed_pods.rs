//! Assumed pods: the daemon has decided to bind them, and their bindings were not seen yet. They count on their nodes.

use crate::cluster::{Change, Cluster, ClusterChange};
use crate::model::ids::{NodeName, PodKey, Text, Uid};
use crate::model::{Claims, Pod};
use jiff::Timestamp;
use std::sync::Arc;

/// A decision to bind a pod, before its binding was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumption {
    /// The UID of the pod, since another pod may come under the same key.
    pub uid: Uid,
    pub node: NodeName,
    /// What the pod takes there besides room.
    pub claims: Claims,
    pub since: Timestamp,
}

impl Cluster {
    pub fn assumed(&self) -> usize {
        self.assumed.len()
    }

    pub fn is_assumed(&self, key: &PodKey) -> bool {
        self.assumed.contains_key(key)
    }

    /// The assumed pod under `key`, in the form that it will have when bound.
    pub fn assumed_pod(&self, key: &PodKey) -> Option<&Arc<Pod>> {
        self.assumed.get(key)
    }

    pub fn assumed_node(&self, key: &PodKey, uid: &Uid) -> Option<&NodeName> {
        self.assumed.get(key).filter(|assumed| assumed.uid == *uid)?.node.as_ref()
    }

    /// Counts the pod under `key`, and what it takes there, on a node before its binding is seen. Does nothing if the pod is gone.
    pub fn assume(&mut self, key: &PodKey, assumption: Assumption) {
        let Assumption { uid, node, claims, since } = assumption;
        let Some(pod) = self.pods.get(key).filter(|pod| pod.uid == uid && pod.node.is_none()).cloned() else {
            return;
        };
        self.forget(key, &uid);
        // No other pod gets these volumes from now on, until the API server sends newer versions of them and of the claims.
        self.volume_choices.note(&uid, &node, claims.volumes());
        let stamp = claims.seat().map(|seat| Text::from(seat.to_string()));
        let pod = Arc::new(pod.bound(node, stamp, Some(since)));
        self.assumed.insert(key.clone(), Arc::clone(&pod));
        self.unnominate(&pod);
        self.count(pod);
    }

    /// Takes an assumption back once it is known that the pod was not bound. Does nothing if the assumption is about another
    /// UID, or if the binding was seen meanwhile.
    pub fn forget(&mut self, key: &PodKey, uid: &Uid) -> Vec<Change> {
        let freed = self.unassume(key, uid);
        if !freed.is_empty() {
            self.volume_choices.forget(uid);
        }
        freed
    }

    /// Takes an assumption back and keeps the volumes that were chosen for the pod.
    pub(super) fn unassume(&mut self, key: &PodKey, uid: &Uid) -> Vec<Change> {
        if self.assumed.get(key).is_none_or(|assumed| assumed.uid != *uid) {
            return Vec::new();
        }
        let Some(pod) = self.assumed.remove(key) else { return Vec::new() };
        self.uncount(&pod);
        if let Some(waiting) = self.pods.get(key).cloned() {
            self.nominate(waiting);
        }
        vec![ClusterChange::of_assigned(Some(pod), None).into()]
    }
}
