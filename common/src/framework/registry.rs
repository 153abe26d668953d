//! The plugins of one profile, by extension point and in order. `plugins` fills a registry; this module knows no particular plugin.

use super::{
    Bind, Filter, Meter, Permit, PostBind, PostFilter, PreBind, PreEnqueue, PreFilter, PreScore, QueueSort,
    Reserve, Score,
};
use crate::model::ByAddress;
use std::sync::Arc;

/// The plugins of one profile. Each list is in the order in which the plugins run.
#[derive(Default)]
pub struct Registry {
    pub pre_enqueues: Vec<Arc<dyn PreEnqueue>>,
    pub queue_sort: Option<Arc<dyn QueueSort>>,
    pub pre_filters: Vec<Arc<dyn PreFilter>>,
    pub filters: Vec<Arc<dyn Filter>>,
    pub post_filters: Vec<Arc<dyn PostFilter>>,
    pub pre_scores: Vec<Arc<dyn PreScore>>,
    pub scores: Vec<WeightedScore>,
    pub reserves: Vec<Arc<dyn Reserve>>,
    pub permits: Vec<Arc<dyn Permit>>,
    pub pre_binds: Vec<Arc<dyn PreBind>>,
    pub binds: Vec<Arc<dyn Bind>>,
    pub post_binds: Vec<Arc<dyn PostBind>>,
    /// Measures how long plugins take; `None`: nothing is measured.
    pub meter: Option<Arc<dyn Meter>>,
    id: RegistryId,
}

/// The identity of a registry: answers that were kept for one registry must not be used for another.
pub type RegistryId = ByAddress<u8>;

pub struct WeightedScore {
    pub plugin: Arc<dyn Score>,
    /// The factor of its normalised scores.
    pub weight: i64,
}

impl Registry {
    #[must_use]
    pub fn pre_filter(mut self, plugin: impl PreFilter + 'static) -> Self {
        self.pre_filters.push(Arc::new(plugin));
        self
    }

    #[must_use]
    pub fn filter(mut self, plugin: impl Filter + 'static) -> Self {
        self.filters.push(Arc::new(plugin));
        self
    }

    #[must_use]
    pub fn score(mut self, plugin: impl Score + 'static, weight: i64) -> Self {
        self.scores.push(WeightedScore { plugin: Arc::new(plugin), weight });
        self
    }

    /// A new registry, with its own identity, that has the same plugins.
    #[must_use]
    pub fn copy(&self) -> Self {
        let weighted =
            |entry: &WeightedScore| WeightedScore { plugin: Arc::clone(&entry.plugin), weight: entry.weight };
        Self {
            pre_enqueues: self.pre_enqueues.clone(),
            queue_sort: self.queue_sort.clone(),
            pre_filters: self.pre_filters.clone(),
            filters: self.filters.clone(),
            post_filters: self.post_filters.clone(),
            pre_scores: self.pre_scores.clone(),
            scores: self.scores.iter().map(weighted).collect(),
            reserves: self.reserves.clone(),
            permits: self.permits.clone(),
            pre_binds: self.pre_binds.clone(),
            binds: self.binds.clone(),
            post_binds: self.post_binds.clone(),
            meter: self.meter.clone(),
            id: RegistryId::default(),
        }
    }

    pub fn id(&self) -> RegistryId {
        self.id.clone()
    }
}
