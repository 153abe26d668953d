//! PrioritySort: the pod with the highest priority comes first; of equal priorities, the pod that arrived first.

#[cfg(test)]
mod tests;

use super::{Descriptor, implementations};
use crate::framework::{Plugin, QueueSort, QueueSortKey, QueuedPodInfo};
use crate::model::ExtensionPoint;

pub struct PrioritySort;

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in(
        "PrioritySort",
        &[ExtensionPoint::QueueSort],
        || implementations!(PrioritySort => queue_sort),
    )
    .upstream()
    .by_default(0)
}

impl Plugin for PrioritySort {
    fn name(&self) -> &'static str {
        "PrioritySort"
    }
}

impl QueueSort for PrioritySort {
    fn sort_key(&self, queued: &QueuedPodInfo) -> QueueSortKey {
        queued.by_priority()
    }
}
