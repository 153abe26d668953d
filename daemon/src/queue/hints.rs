//! Why a pod is unschedulable, and who says which changes may help it.

use common::cluster::{ClusterChange, ClusterEvent};
use common::model::ids::Text;
use common::model::owner::OwnerKind;
use common::model::{Pod, Uid};
use std::collections::BTreeSet;
use std::sync::Arc;

/// In place of a plugin: any change may help.
pub const ANY_CHANGE: &str = "*";

/// The plugins that refused a pod. Without any, only a change of the pod itself can help.
pub type RefusedBy = BTreeSet<&'static str>;

/// Says which changes may help a pod, by the plugins that refused it.
pub trait Hints {
    /// Whether changes of this kind may help pods of this scheduler.
    fn is_event_of_interest(&self, scheduler: &Text, refused_by: &RefusedBy, event: ClusterEvent) -> bool;

    /// Whether this change may help this pod.
    fn is_worth_requeuing(&self, pod: &Pod, refused_by: &RefusedBy, change: &ClusterChange) -> bool;
}

/// What an unschedulable pod waits for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RefusedPod {
    pub(super) pod: Arc<Pod>,
    pub(super) refused_by: RefusedBy,
}

/// Pods for which plugins give the same hints: pods of one template. Specs and labels are compared by their addresses, since pods
/// with equal ones share them; a pod of the class keeps both alive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HintClass {
    spec: usize,
    labels: usize,
    namespace: Text,
    controller: Option<Uid>,
    /// The pod itself if its name counts: its reservation or its claims are found by it.
    pod: Option<Text>,
}

impl HintClass {
    pub(super) fn of(pod: &Pod) -> Self {
        let controller = pod.controller.as_deref();
        let is_replica = controller.is_some_and(|owner| owner.kind != Some(OwnerKind::StatefulSet));
        let is_alike = is_replica && !pod.spec.volumes.iter().any(|volume| volume.is_ephemeral());
        Self {
            spec: Arc::as_ptr(&pod.spec) as usize,
            labels: Arc::as_ptr(&pod.labels) as usize,
            namespace: pod.key.namespace.clone(),
            controller: controller.map(|owner| owner.uid.clone()),
            pod: (!is_alike).then(|| pod.key.name.clone()),
        }
    }
}

impl RefusedPod {
    /// Refusals with this key are asked about at once.
    pub(super) fn key(&self) -> (Text, RefusedBy) {
        (self.pod.spec.scheduler_name.clone(), self.refused_by.clone())
    }

    /// Whether the change may help the pod of this refusal.
    pub(super) fn is_helped(&self, change: &ClusterChange, hints: &dyn Hints) -> bool {
        change.is_for(&self.pod.key) && hints.is_worth_requeuing(&self.pod, &self.refused_by, change)
    }
}
