//! PrioritySort: the pod with the highest priority comes first; of equal priorities, the pod that arrived first.

#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::config::PluginArgs;
use crate::framework::{Plugin, QueueSort, QueueSortKey, QueuedPodInfo};
use std::sync::Arc;

/// The plugin.
pub struct PrioritySort;

/// The plugin, for each of its extension points.
pub(super) fn kit(_args: &PluginArgs) -> Kit {
    Kit { queue_sort: Some(Arc::new(PrioritySort)), ..Kit::default() }
}

impl Plugin for PrioritySort {
    fn name(&self) -> &'static str {
        "PrioritySort"
    }
}

impl QueueSort for PrioritySort {
    fn sort_key(&self, queued: &QueuedPodInfo) -> QueueSortKey {
        (-i64::from(queued.priority), i64::try_from(queued.arrival).unwrap_or(i64::MAX))
    }
}
