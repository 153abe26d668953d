//! The plugins that a file may name, with their extension points, and the default profile.

use super::nearest::did_you_mean;
use crate::model::extension_point::ExtensionPoint::{
    self, Bind, Filter, Permit, PlacementGenerate, PlacementScore, PodGroupPostFilter, PostBind, PostFilter,
    PreBind, PreEnqueue, PreFilter, PreScore, QueueSort, Reserve, Score,
};

/// A plugin of the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtraPlugin {
    /// The name in a file.
    pub name: String,
    /// The extension points that the plugin has.
    pub points: Vec<ExtensionPoint>,
}

/// kube-scheduler's plugins.
const UPSTREAM: [(&str, &[ExtensionPoint]); 24] = [
    ("SchedulingGates", &[PreEnqueue]),
    ("PrioritySort", &[QueueSort]),
    ("NodeName", &[PreFilter, Filter]),
    ("NodeUnschedulable", &[PreFilter, Filter]),
    ("TaintToleration", &[PreFilter, Filter, PreScore, Score]),
    ("NodeAffinity", &[PreFilter, Filter, PreScore, Score]),
    ("NodePorts", &[PreFilter, Filter]),
    ("NodeResourcesFit", &[PreFilter, Filter, PreScore, Score, PlacementScore]),
    ("VolumeRestrictions", &[PreFilter, Filter]),
    ("NodeVolumeLimits", &[PreFilter, Filter]),
    ("VolumeBinding", &[PreFilter, Filter, PreScore, Score, Reserve, PreBind]),
    ("VolumeZone", &[PreFilter, Filter]),
    ("PodTopologySpread", &[PreFilter, Filter, PreScore, Score]),
    ("InterPodAffinity", &[PreFilter, Filter, PreScore, Score]),
    (
        "DynamicResources",
        &[PreEnqueue, PreFilter, Filter, PostFilter, PodGroupPostFilter, Score, Reserve, PreBind],
    ),
    ("DefaultPreemption", &[PreEnqueue, PostFilter, PodGroupPostFilter]),
    ("NodeResourcesBalancedAllocation", &[PreScore, Score]),
    ("ImageLocality", &[Score]),
    ("DefaultBinder", &[Bind]),
    ("NodeDeclaredFeatures", &[PreFilter, Filter]),
    ("DeferredPodScheduling", &[PreFilter, Filter, Permit]),
    ("GangScheduling", &[PreEnqueue, Permit]),
    ("TopologyPlacementGenerator", &[PlacementGenerate]),
    ("PodGroupPodsCount", &[PlacementScore]),
];

/// The plugin that enforces reservations.
pub(super) const RESERVATION: &str = "Reservation";

/// Our plugins.
const OURS: [(&str, &[ExtensionPoint]); 8] = [
    (RESERVATION, &[PreFilter, Filter, Score, Reserve]),
    ("NodeLabel", &[Filter, PreScore]),
    ("PodLimit", &[PreFilter]),
    ("NodePreference", &[Score]),
    ("LabelGate", &[PreFilter, Filter]),
    ("RandomScore", &[Score]),
    ("BuildImageLocality", &[Score]),
    (
        "Trace",
        &[
            PreEnqueue, PreFilter, Filter, PostFilter, PreScore, Score, Reserve, Permit, PreBind, Bind,
            PostBind,
        ],
    ),
];

/// The default profile in order, all of it by `multiPoint`; 0 where kube-scheduler has no weight. Our plugin comes last, so that
/// the order among kube-scheduler's plugins does not change.
pub(super) const DEFAULTS: [(&str, i32); 21] = [
    ("SchedulingGates", 0),
    ("PrioritySort", 0),
    ("NodeName", 0),
    ("NodeUnschedulable", 0),
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("NodePorts", 0),
    ("NodeResourcesFit", 1),
    ("VolumeRestrictions", 0),
    ("NodeVolumeLimits", 0),
    ("VolumeBinding", 0),
    ("VolumeZone", 0),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("DynamicResources", 2),
    ("DefaultPreemption", 0),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
    ("DefaultBinder", 0),
    ("NodeDeclaredFeatures", 0),
    (RESERVATION, RESERVATION_WEIGHT),
];

/// More than the weights of all other plugins together; a test compares it with the constant of the plugin.
pub(super) const RESERVATION_WEIGHT: i32 = 100;

/// Whether the plugin is kube-scheduler's or ours.
pub fn is_built_in(name: &str) -> bool {
    UPSTREAM.iter().chain(&OURS).any(|(known, _)| *known == name)
}

/// The plugins that a file may name.
#[derive(Clone, Copy, Debug)]
pub(super) struct PluginCatalog<'a> {
    extra: &'a [ExtraPlugin],
}

impl<'a> PluginCatalog<'a> {
    pub(super) fn new(extra: &'a [ExtraPlugin]) -> Self {
        Self { extra }
    }

    /// The extension points of the plugin, if there is one of this name.
    pub(super) fn points(&self, name: &str) -> Option<&'a [ExtensionPoint]> {
        let extra = self.extra.iter().find(|plugin| plugin.name == name).map(|plugin| &plugin.points[..]);
        extra.or_else(|| {
            UPSTREAM.iter().chain(&OURS).find(|(known, _)| *known == name).map(|(_, points)| *points)
        })
    }

    pub(super) fn has(&self, name: &str, point: ExtensionPoint) -> bool {
        self.points(name).is_some_and(|points| points.contains(&point))
    }

    /// Whether the plugin is one of kube-scheduler's, and the caller does not replace it.
    pub(super) fn is_upstream(&self, name: &str) -> bool {
        !self.extra.iter().any(|plugin| plugin.name == name)
            && UPSTREAM.iter().any(|(known, _)| *known == name)
    }

    /// Whether the plugin is one of ours, and the caller does not replace it.
    pub(super) fn is_ours(&self, name: &str) -> bool {
        !self.extra.iter().any(|plugin| plugin.name == name) && OURS.iter().any(|(known, _)| *known == name)
    }

    pub(super) fn suggestion(&self, name: &str) -> String {
        let known = UPSTREAM.iter().chain(&OURS).map(|(name, _)| *name);
        did_you_mean(name, known.chain(self.extra.iter().map(|plugin| plugin.name.as_str())))
    }
}
