//! NodeName: a pod that names its node runs there or nowhere.

#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::cluster::{PodContext, Snapshot};
use crate::config::PluginArgs;
use crate::framework::{Admission, Filter, NodeFilter, Plugin, PreFilter, Reason, Verdict, on_ledger};
use std::sync::Arc;

/// The plugin.
pub struct NodeName;

/// The plugin at its extension points.
pub(super) fn kit(_args: &PluginArgs) -> Kit {
    let plugin = Arc::new(NodeName);
    Kit { pre_filter: Some(plugin.clone()), filter: Some(plugin), ..Kit::default() }
}

impl Plugin for NodeName {
    fn name(&self) -> &'static str {
        "NodeName"
    }
}

impl PreFilter for NodeName {
    fn pre_filter(&self, pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Admission {
        match &pod_context.pod.node {
            Some(named) => Admission::Only([named.clone()].into()),
            None => Admission::All,
        }
    }
}

impl Filter for NodeName {
    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        let named = pod_context.pod.node.as_ref()?;
        on_ledger(world, move |ledger| match &ledger.node.name {
            name if name == named => Verdict::Fits,
            _ => Verdict::rejects(self.name(), Reason::OtherNode),
        })
    }
}
