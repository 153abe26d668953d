//! The controllers: they create and delete pods of ReplicaSets and StatefulSets, and delete objects without an owner or a node.

use super::sim::Sim;
use common::model::{OwnerKind, Pod, PodKey, Uid, Workload};
use std::sync::Arc;

impl Sim {
    /// Runs all controllers once.
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
        self.reconcile_foreign_owner();
        self.clean_up();
    }

    fn pods_of(&self, workload: &Workload) -> Vec<Arc<Pod>> {
        let is_its = |pod: &&Arc<Pod>| {
            pod.controller.as_ref().is_some_and(|controller| controller.uid == workload.uid)
                && pod.key.namespace == workload.namespace
        };
        self.api.state.pods.values().filter(is_its).cloned().collect()
    }

    fn reconcile_set(&mut self, set: &Workload) {
        let mut pods = self.pods_of(set);
        pods.retain(|pod| !pod.deleting && !pod.is_ended());
        let wanted = set.desired_pods.unwrap_or(0) as usize;
        let Some(template) = self.scenario.templates.get(&set.uid).cloned() else { return };
        for _ in pods.len()..wanted {
            let name = format!("{}-{:x}", set.name, self.api.number());
            self.make_pod(&template, &name, Some(set));
        }
        // Pods without a node are deleted first, then the youngest.
        pods.sort_by_key(|pod| {
            (pod.node.is_none(), pod.created.map(common::model::Moment::time), pod.key.clone())
        });
        for pod in pods.iter().skip(wanted) {
            let _ = self.api.delete_pod(&pod.key, &pod.uid, self.grace_of(pod));
        }
    }

    fn reconcile_named(&mut self, set: &Workload) {
        let wanted = set.desired_pods.unwrap_or(0);
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

    /// Deletes pods that have ended, whose owner is gone, or whose node is gone. Pods of the tenant with forged owners stay.
    fn clean_up(&mut self) {
        let pods: Vec<Arc<Pod>> = self.api.state.pods.values().cloned().collect();
        for pod in pods {
            let owner: Option<&Uid> = pod.controller.as_ref().map(|controller| &controller.uid);
            let is_foreign = self
                .scenario
                .foreign_owner
                .as_ref()
                .is_some_and(|foreign_owner| owner == Some(&foreign_owner.uid));
            let is_orphan = owner.filter(|_| !is_foreign).is_some_and(|uid| {
                self.api.workloads.get(uid).is_none_or(|owner| owner.namespace != pod.key.namespace)
            });
            let is_lost = pod.node.as_ref().is_some_and(|node| !self.api.state.nodes.contains_key(node));
            if is_lost || pod.is_ended() {
                self.api.remove_pod(&pod.uid);
            } else if is_orphan && !pod.deleting && &*pod.key.namespace != "tenant" {
                let _ = self.api.delete_pod(&pod.key, &pod.uid, self.grace_of(&pod));
            }
        }
    }
}
