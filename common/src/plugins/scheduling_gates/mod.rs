//! SchedulingGates: a pod with scheduling gates is not queued until all gates are removed.

#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::config::PluginArgs;
use crate::framework::{Plugin, PreEnqueue, Reason, Rejection};
use crate::model::Pod;
use std::sync::Arc;

/// The plugin.
pub struct SchedulingGates;

/// The plugin, for each of its extension points.
pub(super) fn kit(_args: &PluginArgs) -> Kit {
    Kit { pre_enqueue: Some(Arc::new(SchedulingGates)), ..Kit::default() }
}

impl Plugin for SchedulingGates {
    fn name(&self) -> &'static str {
        "SchedulingGates"
    }
}

impl PreEnqueue for SchedulingGates {
    fn check(&self, pod: &Pod) -> Option<Rejection> {
        let gates = &pod.spec.gates;
        (!gates.is_empty()).then(|| Rejection::new(self.name(), Reason::Gates(gates.clone())))
    }
}
