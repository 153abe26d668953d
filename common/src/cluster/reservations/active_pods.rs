//! How many active pods each controller has. A pod is active when it is on a node, has not ended, and is not being deleted.
//!
//! Pods are counted by the whole reference to their controller: namespace, kind, name and UID. A reference that is wrong in one of
//! them counts for no workload.

use crate::model::{ControllerRef, Pod, Text, Uid, Workload};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(in crate::cluster) struct ActivePodCounts {
    by_uid: BTreeMap<Uid, Vec<ControllerGroup>>,
}

/// Active pods in one namespace with the same controller reference.
#[derive(Debug, PartialEq)]
struct ControllerGroup {
    namespace: Text,
    controller: Arc<ControllerRef>,
    pods: u32,
}

impl ActivePodCounts {
    /// Counts the pod, if it is active.
    pub(in crate::cluster) fn add(&mut self, pod: &Pod) {
        let Some(controller) = pod.controller.as_ref().filter(|_| is_active(pod)) else { return };
        let groups = self.by_uid.entry(controller.uid.clone()).or_default();
        match groups.iter_mut().find(|group| group.is_of(pod, controller)) {
            Some(group) => group.pods += 1,
            None => groups.push(ControllerGroup {
                namespace: pod.key.namespace.clone(),
                controller: Arc::clone(controller),
                pods: 1,
            }),
        }
    }

    /// No longer counts the pod; `pod` is as it was counted.
    pub(in crate::cluster) fn remove(&mut self, pod: &Pod) {
        let Some(controller) = pod.controller.as_ref().filter(|_| is_active(pod)) else { return };
        let Some(groups) = self.by_uid.get_mut(&controller.uid) else { return };
        if let Some(group) = groups.iter_mut().find(|group| group.is_of(pod, controller)) {
            group.pods = group.pods.saturating_sub(1);
        }
        groups.retain(|group| group.pods > 0);
        if groups.is_empty() {
            self.by_uid.remove(&controller.uid);
        }
    }

    pub(in crate::cluster) fn has(&self, uid: &Uid) -> bool {
        self.by_uid.contains_key(uid)
    }

    /// Whether both have the same counts, whatever the order of the groups.
    pub(in crate::cluster) fn is_same(&self, other: &Self) -> bool {
        let is_same = |one: &Vec<ControllerGroup>, other: &Vec<ControllerGroup>| {
            one.len() == other.len() && one.iter().all(|group| other.contains(group))
        };
        self.by_uid.len() == other.by_uid.len()
            && self
                .by_uid
                .iter()
                .zip(&other.by_uid)
                .all(|(one, other)| one.0 == other.0 && is_same(one.1, other.1))
    }

    /// How many active pods name `workload` itself as their controller.
    pub(in crate::cluster) fn of(&self, workload: &Workload) -> u32 {
        let groups = self.by_uid.get(&workload.uid).into_iter().flatten();
        let own = groups
            .filter(|group| group.controller.refers_to(workload) && group.namespace == workload.namespace);
        own.map(|group| group.pods).sum()
    }
}

impl ControllerGroup {
    fn is_of(&self, pod: &Pod, controller: &ControllerRef) -> bool {
        self.namespace == pod.key.namespace && *self.controller == *controller
    }
}

/// Whether the pod is on a node, has not ended, and is not being deleted.
pub(in crate::cluster) fn is_active(pod: &Pod) -> bool {
    pod.is_counted() && !pod.deleting
}

#[cfg(test)]
mod tests {
    use super::ActivePodCounts;
    use crate::testing::{pod, replica_set};

    #[test]
    fn only_pods_that_stand_and_whose_claim_is_good_count() {
        let set = replica_set("web-1");
        let mut counts = ActivePodCounts::default();
        let pods = [
            pod("a").owned_by(&set).on("n1").build(),
            pod("b").owned_by(&set).on("n2").build(),
            pod("waiting").owned_by(&set).build(),
            pod("leaving").owned_by(&set).on("n1").terminating().build(),
            pod("ended").owned_by(&set).on("n1").phase("Failed").build(),
            pod("elsewhere").owned_by(&set).on("n1").namespace("other").build(),
            pod("liar")
                .owned_by(&crate::model::Workload { name: "liar".into(), ..set.clone() })
                .on("n1")
                .build(),
            pod("bare").on("n1").build(),
        ];
        pods.iter().for_each(|pod| counts.add(pod));
        assert_eq!(counts.of(&set), 2);
        pods.iter().skip(1).for_each(|pod| counts.remove(pod));
        assert_eq!(counts.of(&set), 1);
        counts.remove(&pods[0]);
        assert!(counts.by_uid.is_empty(), "nothing is kept about nobody");
    }
}
