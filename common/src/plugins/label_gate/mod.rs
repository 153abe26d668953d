//! LabelGate: a label that keeps a pod, or a node, out.
//!
//! ```yaml
//! plugins:
//!   multiPoint: {enabled: [{name: LabelGate}]}
//! pluginConfig:
//! - name: LabelGate
//!   args:
//!     podLabel: "example.com/hold"        # pods with the label are not placed
//!     nodeLabel: "schedule=never"         # nodes with the label get none of this scheduler's pods
//! ```
//!
//! Both are written as `kubectl -l` has them: `key`, `!key`, `key=value`, `key!=value`; so `podLabel: "!team"` keeps
//! out whoever has no team. Left out, nothing is kept out.

#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::cluster::{PodContext, Snapshot};
use crate::config::{LabelGateArgs, PluginArgs};
use crate::framework::{
    Admission, Cure, Filter, NodeFilter, Plugin, PreFilter, Reason, Rejection, Scope, Verdict, on_ledger,
};
use std::sync::Arc;

/// The plugin.
pub struct LabelGate {
    args: LabelGateArgs,
}

/// The plugin at its extension points.
pub(super) fn kit(args: &PluginArgs) -> Kit {
    let plugin = Arc::new(LabelGate { args: args.ours.label_gate.clone() });
    Kit { pre_filter: Some(plugin.clone()), filter: Some(plugin), ..Kit::default() }
}

impl Plugin for LabelGate {
    fn name(&self) -> &'static str {
        "LabelGate"
    }
}

impl PreFilter for LabelGate {
    fn pre_filter(&self, pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Admission {
        match &self.args.pod_label {
            Some(gate) if gate.matches(&pod_context.pod.labels) => {
                let reason = Reason::said_for_good(format!("pods with {gate} are kept out"), Cure::Pod);
                Admission::Rejects(vec![Rejection::new(self.name(), reason)])
            }
            _ => Admission::All,
        }
    }
}

impl Filter for LabelGate {
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(
        &'c self,
        _pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        let gate = self.args.node_label.as_ref()?;
        on_ledger(world, move |ledger| {
            if !gate.matches(&ledger.node.labels) {
                return Verdict::Fits;
            }
            let words = format!("node(s) with {gate} are kept out");
            Verdict::rejects(self.name(), Reason::said_for_good(words, Cure::Node))
        })
    }
}
