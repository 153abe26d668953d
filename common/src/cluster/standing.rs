//! How many pods of each controller stand: are on a node, have not ended, and are not on their way out.
//!
//! Counted by what the pods claim, together with namespace, kind and name: a claim that is not good in all of them
//! counts for nobody.

use crate::model::Pod;
use crate::model::ids::{Text, Uid};
use crate::model::owner::{ControllerRef, Workload};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct Standing {
    by_uid: BTreeMap<Uid, Vec<Group>>,
}

/// Pods that claim the same controller.
#[derive(Debug, PartialEq)]
struct Group {
    namespace: Text,
    controller: Arc<ControllerRef>,
    pods: u32,
}

impl Standing {
    /// A pod came.
    pub(super) fn add(&mut self, pod: &Pod) {
        let Some(controller) = pod.controller.as_ref().filter(|_| stands(pod)) else { return };
        let groups = self.by_uid.entry(controller.uid.clone()).or_default();
        match groups.iter_mut().find(|group| group.is_of(pod, controller)) {
            Some(group) => group.pods += 1,
            None => groups.push(Group {
                namespace: pod.key.namespace.clone(),
                controller: Arc::clone(controller),
                pods: 1,
            }),
        }
    }

    /// A pod left.
    pub(super) fn remove(&mut self, pod: &Pod) {
        let Some(controller) = pod.controller.as_ref().filter(|_| stands(pod)) else { return };
        let Some(groups) = self.by_uid.get_mut(&controller.uid) else { return };
        if let Some(group) = groups.iter_mut().find(|group| group.is_of(pod, controller)) {
            group.pods = group.pods.saturating_sub(1);
        }
        groups.retain(|group| group.pods > 0);
        if groups.is_empty() {
            self.by_uid.remove(&controller.uid);
        }
    }

    /// Whether a pod that stands claims the controller with this UID.
    pub(super) fn has(&self, uid: &Uid) -> bool {
        self.by_uid.contains_key(uid)
    }

    /// Whether both have counted the same.
    pub(super) fn says_same(&self, other: &Self) -> bool {
        let is_same = |one: &Vec<Group>, other: &Vec<Group>| {
            one.len() == other.len() && one.iter().all(|group| other.contains(group))
        };
        self.by_uid.len() == other.by_uid.len()
            && self
                .by_uid
                .iter()
                .zip(&other.by_uid)
                .all(|(one, other)| one.0 == other.0 && is_same(one.1, other.1))
    }

    /// How many pods `workload` controls itself.
    pub(super) fn of(&self, workload: &Workload) -> u32 {
        let groups = self.by_uid.get(&workload.uid).into_iter().flatten();
        let own =
            groups.filter(|group| group.controller.names(workload) && group.namespace == workload.namespace);
        own.map(|group| group.pods).sum()
    }
}

impl Group {
    fn is_of(&self, pod: &Pod, controller: &ControllerRef) -> bool {
        self.namespace == pod.key.namespace && *self.controller == *controller
    }
}

/// Whether the pod is where it is to stay.
pub(super) fn stands(pod: &Pod) -> bool {
    pod.is_counted() && !pod.deleting
}

#[cfg(test)]
mod tests {
    use super::Standing;
    use crate::testing::{pod, replica_set};

    #[test]
    fn only_pods_that_stand_and_whose_claim_is_good_count() {
        let set = replica_set("web-1");
        let mut standing = Standing::default();
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
        pods.iter().for_each(|pod| standing.add(pod));
        assert_eq!(standing.of(&set), 2);
        pods.iter().skip(1).for_each(|pod| standing.remove(pod));
        assert_eq!(standing.of(&set), 1);
        standing.remove(&pods[0]);
        assert!(standing.by_uid.is_empty(), "nothing is kept about nobody");
    }
}
