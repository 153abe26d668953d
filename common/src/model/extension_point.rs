//! The extension points of the scheduling framework, by kube-scheduler's names.

/// When a plugin is called while a pod is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExtensionPoint {
    /// May the pod enter the queue?
    PreEnqueue,
    /// Which of two pods goes first?
    QueueSort,
    /// What the filters need to know, once for each pod; and which nodes come into question.
    PreFilter,
    /// Can the node run the pod?
    Filter,
    /// No node can: what would help?
    PostFilter,
    /// The same for a group of pods.
    PodGroupPostFilter,
    /// What the scorers need to know, once for each pod.
    PreScore,
    /// How well does the node suit the pod?
    Score,
    /// A node was chosen: what the pod takes there besides room.
    Reserve,
    /// The pod is not bound after all: what it took is given back. A configuration cannot name it.
    Unreserve,
    /// May the pod be bound now, or must it wait?
    Permit,
    /// Work before the binding.
    PreBind,
    /// The binding.
    Bind,
    /// The pod was bound.
    PostBind,
    /// Where could a group of pods go?
    PlacementGenerate,
    /// How well does a place suit a group of pods?
    PlacementScore,
}

impl ExtensionPoint {
    /// Those that a configuration can name, in the order in which they are called.
    pub const CONFIGURABLE: [Self; 15] = [
        Self::PreEnqueue,
        Self::QueueSort,
        Self::PreFilter,
        Self::Filter,
        Self::PostFilter,
        Self::PodGroupPostFilter,
        Self::PreScore,
        Self::Score,
        Self::Reserve,
        Self::Permit,
        Self::PreBind,
        Self::Bind,
        Self::PostBind,
        Self::PlacementGenerate,
        Self::PlacementScore,
    ];

    /// Its name, as in metrics: `PreFilter`.
    pub const fn name(self) -> &'static str {
        self.names().0
    }

    /// Its field in a configuration file: `preFilter`.
    pub const fn field(self) -> &'static str {
        self.names().1
    }

    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::PreEnqueue => ("PreEnqueue", "preEnqueue"),
            Self::QueueSort => ("QueueSort", "queueSort"),
            Self::PreFilter => ("PreFilter", "preFilter"),
            Self::Filter => ("Filter", "filter"),
            Self::PostFilter => ("PostFilter", "postFilter"),
            Self::PodGroupPostFilter => ("PodGroupPostFilter", "podGroupPostFilter"),
            Self::PreScore => ("PreScore", "preScore"),
            Self::Score => ("Score", "score"),
            Self::Reserve => ("Reserve", "reserve"),
            Self::Unreserve => ("Unreserve", "unreserve"),
            Self::Permit => ("Permit", "permit"),
            Self::PreBind => ("PreBind", "preBind"),
            Self::Bind => ("Bind", "bind"),
            Self::PostBind => ("PostBind", "postBind"),
            Self::PlacementGenerate => ("PlacementGenerate", "placementGenerate"),
            Self::PlacementScore => ("PlacementScore", "placementScore"),
        }
    }

    /// Whether plugins have a weight here.
    pub const fn is_weighted(self) -> bool {
        matches!(self, Self::Score | Self::PlacementScore)
    }
}
