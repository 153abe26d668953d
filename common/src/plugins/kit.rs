//! A plugin with the extension points that it has.

use crate::config::Enabled;
use crate::framework::{
    Bind, Filter, Permit, PostBind, PostFilter, PreBind, PreEnqueue, PreFilter, PreScore, QueueSort,
    Registry, Reserve, Score, Weighted,
};
use crate::model::ExtensionPoint;
use std::sync::Arc;

/// A plugin, once for each extension point that it has.
#[derive(Clone, Default)]
pub struct Kit {
    /// Before the queue.
    pub pre_enqueue: Option<Arc<dyn PreEnqueue>>,
    /// The order of the queue.
    pub queue_sort: Option<Arc<dyn QueueSort>>,
    /// Before any node is looked at.
    pub pre_filter: Option<Arc<dyn PreFilter>>,
    /// For each node.
    pub filter: Option<Arc<dyn Filter>>,
    /// When no node will do.
    pub post_filter: Option<Arc<dyn PostFilter>>,
    /// Before nodes are scored.
    pub pre_score: Option<Arc<dyn PreScore>>,
    /// For each node that will do.
    pub score: Option<Arc<dyn Score>>,
    /// When a node was chosen.
    pub reserve: Option<Arc<dyn Reserve>>,
    /// Whether the pod may be bound.
    pub permit: Option<Arc<dyn Permit>>,
    /// Before the binding.
    pub pre_bind: Option<Arc<dyn PreBind>>,
    /// For the binding.
    pub bind: Option<Arc<dyn Bind>>,
    /// After the binding.
    pub post_bind: Option<Arc<dyn PostBind>>,
}

impl Kit {
    /// Adds the plugin to `registry` at `point`, if it has that.
    pub(super) fn add_to(&self, registry: &mut Registry, point: ExtensionPoint, enabled: &Enabled) {
        match point {
            ExtensionPoint::PreEnqueue => registry.pre_enqueues.extend(self.pre_enqueue.clone()),
            ExtensionPoint::QueueSort => registry.queue_sort = self.queue_sort.clone(),
            ExtensionPoint::PreFilter => registry.pre_filters.extend(self.pre_filter.clone()),
            ExtensionPoint::Filter => registry.filters.extend(self.filter.clone()),
            ExtensionPoint::PostFilter => registry.post_filters.extend(self.post_filter.clone()),
            ExtensionPoint::PreScore => registry.pre_scores.extend(self.pre_score.clone()),
            ExtensionPoint::Score => registry.scores.extend(
                self.score.clone().map(|plugin| Weighted { plugin, weight: i64::from(enabled.weight) }),
            ),
            ExtensionPoint::Reserve => registry.reserves.extend(self.reserve.clone()),
            ExtensionPoint::Permit => registry.permits.extend(self.permit.clone()),
            ExtensionPoint::PreBind => registry.pre_binds.extend(self.pre_bind.clone()),
            ExtensionPoint::Bind => registry.binds.extend(self.bind.clone()),
            ExtensionPoint::PostBind => registry.post_binds.extend(self.post_bind.clone()),
            // Of groups of pods, which are not served.
            ExtensionPoint::PodGroupPostFilter
            | ExtensionPoint::PlacementGenerate
            | ExtensionPoint::PlacementScore => {}
            // Whoever reserves also gives back.
            ExtensionPoint::Unreserve => {}
        }
    }
}
