//! PodLimit: limits the number of pods that a namespace has on nodes.
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
//! Pods count that have a node and have not ended, also those of other schedulers; a terminating pod counts until it is gone. The
//! limit applies to pods that this scheduler places: it is not a quota.

mod counts;
#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource, PodContext, Snapshot};
use crate::config::PodLimitArgs;
use crate::framework::{
    Admission, BlockerClass, EnqueueExtensions, Plugin, PreFilter, QueueingHint, RefusalCode, RefusalKind,
    Rejection,
};
use crate::model::{ExtensionPoint, Pod};
use std::sync::Arc;

/// It is unresolvable: PreFilter counts before any preemption.
const LIMIT_REACHED: RefusalKind = RefusalKind::unresolvable(RefusalCode::Refused, BlockerClass::Spec);

pub struct PodLimit {
    args: PodLimitArgs,
}

pub(super) fn descriptor() -> Descriptor {
    Descriptor::with_args("PodLimit", &[ExtensionPoint::PreFilter], |args: PodLimitArgs| {
        let plugin = Arc::new(PodLimit { args });
        Implementations {
            pre_filter: Some(plugin.clone()),
            enqueue_extensions: Some(plugin),
            ..Implementations::default()
        }
    })
}

impl Plugin for PodLimit {
    fn name(&self) -> &'static str {
        "PodLimit"
    }
}

impl PreFilter for PodLimit {
    fn pre_filter(&self, context: &PodContext<'_>, world: &Snapshot<'_>) -> Admission {
        let namespace = &context.pod.key.namespace;
        let Some(max) = self.args.namespaces.get(&**namespace).copied().or(self.args.max_pods) else {
            return Admission::All;
        };
        let count = counts::counts(world).get(namespace);
        if count < max {
            return Admission::All;
        }
        let text = format!("namespace \"{namespace}\" has {count} pods, at most {max} are allowed");
        Admission::Rejects(vec![Rejection::new(self.name(), LIMIT_REACHED.with(text))])
    }
}

impl EnqueueExtensions for PodLimit {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const { &[ClusterEvent::new(EventResource::AssignedPod, ActionType::DELETE)] }
    }

    fn hint(&self, pod: &Pod, change: &ClusterChange, _world: &Snapshot<'_>) -> QueueingHint {
        let gone = change.pod_key();
        QueueingHint::queue_if(gone.is_none_or(|gone| gone.namespace == pod.key.namespace))
    }
}
