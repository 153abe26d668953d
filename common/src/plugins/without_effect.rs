//! Plugins of kube-scheduler that a file can name and that do nothing here.

use super::{Descriptor, Implementations};
use crate::config::DynamicResourcesArgs;
use crate::model::ExtensionPoint;

/// The plugin is on by default, so that it cannot be refused; instead, each pod with resource claims is.
pub(super) fn dynamic_resources() -> Descriptor {
    let points = [
        ExtensionPoint::PreEnqueue,
        ExtensionPoint::PreFilter,
        ExtensionPoint::Filter,
        ExtensionPoint::PostFilter,
        ExtensionPoint::PodGroupPostFilter,
        ExtensionPoint::Score,
        ExtensionPoint::Reserve,
        ExtensionPoint::PreBind,
    ];
    Descriptor::with_args("DynamicResources", &points, |_args: DynamicResourcesArgs| {
        Implementations::default()
    })
    .upstream()
    .by_default(2)
}

pub(super) fn deferred_pod_scheduling() -> Descriptor {
    let points = [ExtensionPoint::PreFilter, ExtensionPoint::Filter, ExtensionPoint::Permit];
    Descriptor::unsupported("DeferredPodScheduling", &points)
}

pub(super) fn gang_scheduling() -> Descriptor {
    Descriptor::unsupported("GangScheduling", &[ExtensionPoint::PreEnqueue, ExtensionPoint::Permit])
}

pub(super) fn pod_group_pods_count() -> Descriptor {
    Descriptor::unsupported("PodGroupPodsCount", &[ExtensionPoint::PlacementScore])
}

pub(super) fn topology_placement_generator() -> Descriptor {
    Descriptor::unsupported("TopologyPlacementGenerator", &[ExtensionPoint::PlacementGenerate])
}
