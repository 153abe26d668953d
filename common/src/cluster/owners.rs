//! The workloads that were read, and the chain of them above a pod.

use super::event::Seen;
use crate::model::Pod;
use crate::model::ids::Text;
use crate::model::owner::{OwnerKind, Workload};
use std::collections::BTreeMap;

/// A chain is never followed further than this: nothing real is that deep, and references can form a circle.
const CHAIN_LEN_MAX: usize = 10;

/// All workloads that were read.
#[derive(Debug, Default)]
pub struct Owners {
    by_name: BTreeMap<(OwnerKind, Text, Text), Workload>,
}

impl Owners {
    /// Learns about workloads of `kind`, and says whether pods may belong to others than before.
    pub fn apply(&mut self, kind: OwnerKind, seen: Seen<Workload>) -> bool {
        match seen {
            Seen::Applied(workload) => self.insert(workload),
            Seen::Deleted(workload) => {
                let key = (kind, workload.namespace, workload.name);
                let is_known = self.by_name.get(&key).is_some_and(|known| known.uid == workload.uid);
                is_known && self.by_name.remove(&key).is_some()
            }
            Seen::Relisted(live) => {
                self.by_name.retain(|(of, _, _), _| *of != kind);
                for workload in live {
                    self.insert(workload);
                }
                true
            }
        }
    }

    /// The owners of `pod`, nearest first: only those that were read in the pod's own namespace under the name and
    /// kind that the one below claims, and whose UID is the claimed one.
    pub fn chain(&self, pod: &Pod) -> Vec<&Workload> {
        let mut chain: Vec<&Workload> = Vec::new();
        let mut claim = pod.controller.as_deref();
        while let Some(controller) = claim
            && chain.len() < CHAIN_LEN_MAX
        {
            let found = controller.kind.and_then(|kind| {
                self.by_name.get(&(kind, pod.key.namespace.clone(), controller.name.clone()))
            });
            let Some(owner) = found.filter(|owner| owner.uid == controller.uid) else { break };
            chain.push(owner);
            claim = owner.controller.as_ref();
        }
        chain
    }

    /// The workload with this UID, for people who read a bare UID.
    pub fn by_uid(&self, uid: &crate::model::Uid) -> Option<&Workload> {
        self.by_name.values().find(|workload| workload.uid == *uid)
    }

    /// Keeps the workload unless a newer version of it is known. Whether that makes a difference to its pods.
    fn insert(&mut self, workload: Workload) -> bool {
        let key = (workload.kind, workload.namespace.clone(), workload.name.clone());
        let known = self.by_name.get(&key).filter(|known| known.uid == workload.uid);
        if known.is_some_and(|known| known.resource_version > workload.resource_version) {
            return false;
        }
        let differs = known.is_none_or(|known| known.controller != workload.controller);
        self.by_name.insert(key, workload);
        differs
    }
}
