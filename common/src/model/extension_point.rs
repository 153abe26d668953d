//! The extension points of the scheduling framework, by kube-scheduler's names.

/// A step of scheduling at which plugins are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExtensionPoint {
    /// Decides whether the pod may enter the scheduling queue.
    PreEnqueue,
    /// Decides which of two pods is scheduled first.
    QueueSort,
    /// Prepares the filters, once for each pod, and may restrict the nodes that are considered.
    PreFilter,
    /// Decides whether a node can run the pod.
    Filter,
    /// Called when no node can run the pod: proposes what would help, such as preemption.
    PostFilter,
    /// [`ExtensionPoint::PostFilter`] for a group of pods.
    PodGroupPostFilter,
    /// Prepares the scores, once for each pod.
    PreScore,
    /// Scores how well a node suits the pod.
    Score,
    /// Called when a node was chosen: reserves what the pod takes there besides resources, such as volumes.
    Reserve,
    /// Called when the pod is not bound in the end: undoes [`ExtensionPoint::Reserve`]. A configuration file has no field for it.
    Unreserve,
    /// Decides whether the pod may be bound now, must wait, or is rejected.
    Permit,
    /// Work that must be done before the binding.
    PreBind,
    Bind,
    /// Called after the pod was bound.
    PostBind,
    /// Proposes placements for a group of pods.
    PlacementGenerate,
    /// Scores how well a placement suits a group of pods.
    PlacementScore,
}

impl ExtensionPoint {
    /// All, in the order in which they are called, each with its name in metrics and its field in a configuration file.
    const NAMES: [(Self, &'static str, &'static str); 16] = [
        (Self::PreEnqueue, "PreEnqueue", "preEnqueue"),
        (Self::QueueSort, "QueueSort", "queueSort"),
        (Self::PreFilter, "PreFilter", "preFilter"),
        (Self::Filter, "Filter", "filter"),
        (Self::PostFilter, "PostFilter", "postFilter"),
        (Self::PodGroupPostFilter, "PodGroupPostFilter", "podGroupPostFilter"),
        (Self::PreScore, "PreScore", "preScore"),
        (Self::Score, "Score", "score"),
        (Self::Reserve, "Reserve", "reserve"),
        (Self::Unreserve, "Unreserve", "unreserve"),
        (Self::Permit, "Permit", "permit"),
        (Self::PreBind, "PreBind", "preBind"),
        (Self::Bind, "Bind", "bind"),
        (Self::PostBind, "PostBind", "postBind"),
        (Self::PlacementGenerate, "PlacementGenerate", "placementGenerate"),
        (Self::PlacementScore, "PlacementScore", "placementScore"),
    ];

    /// The extension points that a configuration file can name, in the order in which they are called.
    pub fn configurable() -> impl Iterator<Item = Self> {
        Self::NAMES.into_iter().map(|(point, ..)| point).filter(|point| *point != Self::Unreserve)
    }

    /// The name in metrics: `PreFilter`.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// The field in a configuration file: `preFilter`.
    pub const fn field(self) -> &'static str {
        Self::NAMES[self as usize].2
    }

    /// Whether a configuration file gives plugins a weight here.
    pub const fn is_weighted(self) -> bool {
        matches!(self, Self::Score | Self::PlacementScore)
    }
}
