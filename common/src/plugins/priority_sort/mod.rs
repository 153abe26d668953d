//! PrioritySort: the most important pod goes first, and of equals the one that has waited longest.

#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::config::PluginArgs;
use crate::framework::{Plugin, QueueSort, Queued, Turn};
use std::sync::Arc;

/// The plugin.
pub struct PrioritySort;

/// The plugin at its extension points.
pub(super) fn kit(_args: &PluginArgs) -> Kit {
    Kit { queue_sort: Some(Arc::new(PrioritySort)), ..Kit::default() }
}

impl Plugin for PrioritySort {
    fn name(&self) -> &'static str {
        "PrioritySort"
    }
}

impl QueueSort for PrioritySort {
    fn turn(&self, queued: &Queued) -> Turn {
        (-i64::from(queued.priority), i64::try_from(queued.arrival).unwrap_or(i64::MAX))
    }
}
