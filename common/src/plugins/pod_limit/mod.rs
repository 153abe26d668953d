//! PodLimit: a namespace may have only so many pods on nodes.
//!
//! ```yaml
//! plugins:
//!   preFilter: {enabled: [{name: PodLimit}]}
//! pluginConfig:
//! - name: PodLimit
//!   args:
//!     maxPods: 6              # for every namespace that is not named; left out: no limit
//!     namespaces:
//!       kube-system: 1000
//!       playground: 2
//! ```
//!
//! What counts are the pods that have a node and have not ended, whoever placed them; a pod that terminates counts until
//! it is gone. It holds for pods that this scheduler places: it is no quota.

mod counts;
#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::cluster::{PodContext, Snapshot};
use crate::config::{PluginArgs, PodLimitArgs};
use crate::framework::{Admission, Cure, Plugin, PreFilter, Reason, Rejection};
use std::sync::Arc;

/// The plugin.
pub struct PodLimit {
    args: PodLimitArgs,
}

/// The plugin at its extension points.
pub(super) fn kit(args: &PluginArgs) -> Kit {
    let plugin = Arc::new(PodLimit { args: args.ours.pod_limit.clone() });
    Kit { pre_filter: Some(plugin), ..Kit::default() }
}

impl Plugin for PodLimit {
    fn name(&self) -> &'static str {
        "PodLimit"
    }
}

impl PreFilter for PodLimit {
    /// Preempting pods is no cure: what is left of the namespace is counted before any node is looked at.
    fn pre_filter(&self, pod_context: &PodContext<'_>, world: &Snapshot<'_>) -> Admission {
        let namespace = &pod_context.pod.key.namespace;
        let Some(max) = self.args.namespaces.get(&**namespace).copied().or(self.args.max_pods) else {
            return Admission::All;
        };
        let count = counts::of(world).get(namespace);
        if count < max {
            return Admission::All;
        }
        let words = format!("namespace \"{namespace}\" has {count} pods, at most {max} are allowed");
        Admission::Rejects(vec![Rejection::new(self.name(), Reason::said_for_good(words, Cure::Pods))])
    }
}
