//! Queueing hints: which changes may help a pod that a plugin refused. The queue asks the plugins that refused a pod, and no others.

use super::Plugin;
use crate::cluster::{ClusterChange, ClusterEvent, Snapshot};
use crate::model::Pod;

/// Whether a change may help a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueingHint {
    /// It may: the pod is tried again.
    Queue,
    /// It does not, as far as this plugin refused the pod.
    Skip,
}

/// What a plugin knows about changes that may help the pods which it refused, as kube-scheduler's interface of this name. Any change
/// moves a pod that was refused by a plugin without it.
pub trait EnqueueExtensions: Plugin {
    /// The events that may help.
    fn events_to_register(&self) -> &'static [ClusterEvent];

    /// Whether one of these changes may help `pod`, which the plugin refused. `world` already has the change. The answer follows
    /// from the namespace, the labels, the spec and the owner of the pod, since pods that have these in common share it.
    ///
    /// A pod whose claims are made for it is asked about by itself, and may read its own name.
    fn hint(&self, pod: &Pod, change: &ClusterChange, world: &Snapshot<'_>) -> QueueingHint;
}

impl QueueingHint {
    /// `Queue` if it is so.
    pub fn queue_if(is_so: bool) -> Self {
        if is_so { Self::Queue } else { Self::Skip }
    }
}
