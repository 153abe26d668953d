//! What a plugin has at each extension point.

use crate::config::EnabledPlugin;
use crate::framework::{
    Bind, EnqueueExtensions, Filter, Permit, PostBind, PostFilter, PreBind, PreEnqueue, PreFilter, PreScore,
    QueueSort, Registry, Reserve, Score, WeightedScore,
};
use crate::model::ExtensionPoint;
use std::sync::Arc;

/// A plugin's implementation of each extension point that it has.
#[derive(Clone, Default)]
pub struct Implementations {
    pub pre_enqueue: Option<Arc<dyn PreEnqueue>>,
    pub queue_sort: Option<Arc<dyn QueueSort>>,
    pub pre_filter: Option<Arc<dyn PreFilter>>,
    pub filter: Option<Arc<dyn Filter>>,
    pub post_filter: Option<Arc<dyn PostFilter>>,
    pub pre_score: Option<Arc<dyn PreScore>>,
    pub score: Option<Arc<dyn Score>>,
    pub reserve: Option<Arc<dyn Reserve>>,
    pub permit: Option<Arc<dyn Permit>>,
    pub pre_bind: Option<Arc<dyn PreBind>>,
    pub bind: Option<Arc<dyn Bind>>,
    pub post_bind: Option<Arc<dyn PostBind>>,
    /// Which changes may help a pod that the plugin refused. Without it any change may.
    pub enqueue_extensions: Option<Arc<dyn EnqueueExtensions>>,
}

/// `Implementations` with one plugin in each of the fields that are named.
macro_rules! implementations {
    ($plugin:expr => $($field:ident),+) => {{
        let plugin = std::sync::Arc::new($plugin);
        $crate::plugins::Implementations {
            $($field: Some(plugin.clone()),)+
            ..$crate::plugins::Implementations::default()
        }
    }};
}
pub(super) use implementations;

impl Implementations {
    pub(super) fn add_to(&self, registry: &mut Registry, point: ExtensionPoint, enabled: &EnabledPlugin) {
        registry
            .enqueue_extensions
            .extend(self.enqueue_extensions.iter().map(|one| (one.name(), Arc::clone(one))));
        match point {
            ExtensionPoint::PreEnqueue => registry.pre_enqueues.extend(self.pre_enqueue.clone()),
            ExtensionPoint::QueueSort => registry.queue_sort = self.queue_sort.clone(),
            ExtensionPoint::PreFilter => registry.pre_filters.extend(self.pre_filter.clone()),
            ExtensionPoint::Filter => registry.filters.extend(self.filter.clone()),
            ExtensionPoint::PostFilter => registry.post_filters.extend(self.post_filter.clone()),
            ExtensionPoint::PreScore => registry.pre_scores.extend(self.pre_score.clone()),
            ExtensionPoint::Score => registry.scores.extend(
                self.score.clone().map(|plugin| WeightedScore { plugin, weight: i64::from(enabled.weight) }),
            ),
            ExtensionPoint::Reserve => registry.reserves.extend(self.reserve.clone()),
            ExtensionPoint::Permit => registry.permits.extend(self.permit.clone()),
            ExtensionPoint::PreBind => registry.pre_binds.extend(self.pre_bind.clone()),
            ExtensionPoint::Bind => registry.binds.extend(self.bind.clone()),
            ExtensionPoint::PostBind => registry.post_binds.extend(self.post_bind.clone()),
            // Extension points of pod groups, which are not supported.
            ExtensionPoint::PodGroupPostFilter
            | ExtensionPoint::PlacementGenerate
            | ExtensionPoint::PlacementScore => {}
            // Unreserve is part of the trait Reserve.
            ExtensionPoint::Unreserve => {}
        }
    }
}
