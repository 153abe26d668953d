//! The plugins that take part, in order. Which ones those are is for `plugins` to say.

use super::{
    Bind, Filter, Meter, Permit, PostBind, PostFilter, PreBind, PreEnqueue, PreFilter, PreScore, QueueSort,
    Reserve, Score,
};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// An ordered set of plugins.
#[derive(Default)]
pub struct Registry {
    /// Those that keep pods out of the queue.
    pub pre_enqueues: Vec<Arc<dyn PreEnqueue>>,
    /// The one that says whose turn it is.
    pub queue_sort: Option<Arc<dyn QueueSort>>,
    /// Those that judge a pod before any node is looked at.
    pub pre_filters: Vec<Arc<dyn PreFilter>>,
    /// Those that keep pods off nodes.
    pub filters: Vec<Arc<dyn Filter>>,
    /// Those that look for help.
    pub post_filters: Vec<Arc<dyn PostFilter>>,
    /// Those that are told which nodes are about to be scored.
    pub pre_scores: Vec<Arc<dyn PreScore>>,
    /// Those that order nodes.
    pub scores: Vec<Weighted>,
    /// Those that take note.
    pub reserves: Vec<Arc<dyn Reserve>>,
    /// Those that let a pod be bound.
    pub permits: Vec<Arc<dyn Permit>>,
    /// Those with something to do before that.
    pub pre_binds: Vec<Arc<dyn PreBind>>,
    /// Those that bind.
    pub binds: Vec<Arc<dyn Bind>>,
    /// Those that are told.
    pub post_binds: Vec<Arc<dyn PostBind>>,
    /// How long the volumes of a pod may take to be bound, if something is said about it.
    pub volumes_within: Option<Duration>,
    /// Who measures how long they take, if anybody does.
    pub meter: Option<Arc<dyn Meter>>,
    id: RegistryId,
}

/// Tells registries apart: what was worked out with one says nothing about another.
#[derive(Clone, Debug, Default)]
pub struct RegistryId(Arc<u8>);

/// A score plugin with its weight.
pub struct Weighted {
    /// The plugin.
    pub plugin: Arc<dyn Score>,
    /// What its normalised scores are multiplied with.
    pub weight: i64,
}

impl Registry {
    /// Adds a plugin that judges pods before nodes, after those already there.
    #[must_use]
    pub fn pre_filter(mut self, plugin: impl PreFilter + 'static) -> Self {
        self.pre_filters.push(Arc::new(plugin));
        self
    }

    /// Adds a filter.
    #[must_use]
    pub fn filter(mut self, plugin: impl Filter + 'static) -> Self {
        self.filters.push(Arc::new(plugin));
        self
    }

    /// Adds a score.
    #[must_use]
    pub fn score(mut self, plugin: impl Score + 'static, weight: i64) -> Self {
        self.scores.push(Weighted { plugin: Arc::new(plugin), weight });
        self
    }

    /// Another one with the same plugins.
    #[must_use]
    pub fn copy(&self) -> Self {
        let weighted =
            |entry: &Weighted| Weighted { plugin: Arc::clone(&entry.plugin), weight: entry.weight };
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
            volumes_within: self.volumes_within,
            meter: self.meter.clone(),
            id: RegistryId::default(),
        }
    }

    /// Which one this is.
    pub fn id(&self) -> RegistryId {
        self.id.clone()
    }
}

impl PartialEq for RegistryId {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for RegistryId {}

impl Hash for RegistryId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}
