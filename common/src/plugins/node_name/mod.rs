//! NodeName: a pod with `spec.nodeName` fits that node only.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{PodContext, Snapshot};
use crate::framework::{Admission, Filter, NodeFilter, Plugin, PreFilter, Reason, Verdict, ledger_filter};
use crate::model::ExtensionPoint;
use std::sync::Arc;

pub struct NodeNamePlugin;

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in("NodeName", &[ExtensionPoint::PreFilter, ExtensionPoint::Filter], || {
        let plugin = Arc::new(NodeNamePlugin);
        Implementations {
            pre_filter: Some(plugin.clone()),
            filter: Some(plugin),
            ..Implementations::default()
        }
    })
    .upstream()
    .by_default(0)
}

impl Plugin for NodeNamePlugin {
    fn name(&self) -> &'static str {
        "NodeName"
    }
}

impl PreFilter for NodeNamePlugin {
    fn pre_filter(&self, pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Admission {
        match &pod_context.pod.node {
            Some(named) => Admission::Only([named.clone()].into()),
            None => Admission::All,
        }
    }
}

impl Filter for NodeNamePlugin {
    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        let named = pod_context.pod.node.as_ref()?;
        ledger_filter(world, move |ledger| match &ledger.node.name {
            name if name == named => Verdict::Fits,
            _ => Verdict::rejects(self.name(), Reason::OtherNode),
        })
    }
}
