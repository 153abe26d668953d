//! The controllers: pods of ReplicaSets and StatefulSets come and go as they are wanted, and what has lost its owner or its node
//! is cleaned up.

use super::sim::Sim;
use common::model::{OwnerKind, Pod, PodKey, Uid, Workload};
use std::sync::Arc;

impl Sim {
    /// The controllers look at what there is.
    pub(super) fn reconcile(&mut self) {
        self.is_reconciling = false;
        let workloads: Vec<Workload> = self.api.workloads.values().cloned().collect();
        for workload in &workloads {
            let is_orphan = workload
                .controller
                .as_ref()
                .is_some_and(|above| !self.api.workloads.contains_key(&above.uid));
            match workload.kind {
                _ if is_orphan => self.api.remove_workload(&workload.uid),
                OwnerKind::ReplicaSet => self.reconcile_set(workload),
                OwnerKind::StatefulSet => self.reconcile_named(workload),
                _ => {}
            }
        }
        self.reconcile_unread();
        self.clean_up();
    }

    fn pods_of(&self, workload: &Workload) -> Vec<Arc<Pod>> {
        let is_its = |pod: &&Arc<Pod>| {
            pod.controller.as_ref().is_some_and(|controller| controller.uid == workload.uid)
                && pod.key.namespace == workload.namespace
        };
        self.api.picture.pods.values().filter(is_its).cloned().collect()
    }

    fn reconcile_set(&mut self, set: &Workload) {
        let mut pods = self.pods_of(set);
        pods.retain(|pod| !pod.deleting && !pod.is_ended());
        let wanted = set.wanted.unwrap_or(0) as usize;
        let Some(template) = self.scenario.templates.get(&set.uid).cloned() else { return };
        for _ in pods.len()..wanted {
            let name = format!("{}-{:x}", set.name, self.api.number());
            self.make_pod(&template, &name, Some(set));
        }
        // Those without a node go first, and then the youngest.
        pods.sort_by_key(|pod| {
            (pod.node.is_none(), pod.created.map(common::model::Moment::time), pod.key.clone())
        });
        for pod in pods.iter().skip(wanted) {
            let _ = self.api.delete_pod(&pod.key, &pod.uid, self.grace_of(pod));
        }
    }

    fn reconcile_named(&mut self, set: &Workload) {
        let wanted = set.wanted.unwrap_or(0);
        let Some(template) = self.scenario.templates.get(&set.uid).cloned() else { return };
        for ordinal in 0..wanted {
            let name = format!("{}-{ordinal}", set.name);
            let key = PodKey::new(set.namespace.clone(), name.as_str());
            match self.api.pod(&key).cloned() {
                None => drop(self.make_pod(&template, &name, Some(set))),
                Some(pod) if pod.is_ended() => self.api.remove_pod(&pod.uid),
                Some(_) => {}
            }
        }
        for pod in self.pods_of(set) {
            let ordinal = pod.key.name.rsplit_once('-').and_then(|(_, ordinal)| ordinal.parse::<u32>().ok());
            if ordinal.is_none_or(|ordinal| ordinal >= wanted) {
                let _ = self.api.delete_pod(&pod.key, &pod.uid, self.grace_of(&pod));
            }
        }
    }

    /// Pods that have ended, whose owner is gone, or whose node is. What tenants claim is looked into much later.
    fn clean_up(&mut self) {
        let pods: Vec<Arc<Pod>> = self.api.picture.pods.values().cloned().collect();
        for pod in pods {
            let owner: Option<&Uid> = pod.controller.as_ref().map(|controller| &controller.uid);
            let is_unread = self.scenario.unread.as_ref().is_some_and(|unread| owner == Some(&unread.uid));
            let is_orphan = owner.filter(|_| !is_unread).is_some_and(|uid| {
                self.api.workloads.get(uid).is_none_or(|owner| owner.namespace != pod.key.namespace)
            });
            let is_lost = pod.node.as_ref().is_some_and(|node| !self.api.picture.nodes.contains_key(node));
            if is_lost || pod.is_ended() {
                self.api.remove_pod(&pod.uid);
            } else if is_orphan && !pod.deleting && &*pod.key.namespace != "tenant" {
                let _ = self.api.delete_pod(&pod.key, &pod.uid, self.grace_of(&pod));
            }
        }
    }
}
