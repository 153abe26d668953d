//! SchedulingGates: a pod with scheduling gates is not queued until all gates are removed.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::framework::{Plugin, PreEnqueue, Reason, Rejection};
use crate::model::ExtensionPoint;
use crate::model::Pod;
use std::sync::Arc;

pub struct SchedulingGates;

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in("SchedulingGates", &[ExtensionPoint::PreEnqueue], || Implementations {
        pre_enqueue: Some(Arc::new(SchedulingGates)),
        ..Implementations::default()
    })
    .upstream()
    .by_default(0)
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
