//! PrioritySort: the pod with the highest priority comes first; of equal priorities, the pod that arrived first.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::framework::{Plugin, QueueSort, QueueSortKey, QueuedPodInfo};
use crate::model::ExtensionPoint;
use std::sync::Arc;

pub struct PrioritySort;

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in("PrioritySort", &[ExtensionPoint::QueueSort], || Implementations {
        queue_sort: Some(Arc::new(PrioritySort)),
        ..Implementations::default()
    })
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
