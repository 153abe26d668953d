//! The plugins of one profile, by extension point and in order. `plugins` fills a registry; this module knows no particular plugin.

use super::{
    Bind, EnqueueExtensions, Filter, Meter, Permit, PostBind, PostFilter, PreBind, PreEnqueue, PreFilter,
    PreScore, QueueSort, QueueingHint, Reserve, Score,
};
use crate::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource, Snapshot};
use crate::model::{ByAddress, Pod};
use std::collections::{BTreeMap, BTreeSet};
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
    /// The plugins that say which changes may help a pod, by name.
    pub enqueue_extensions: BTreeMap<&'static str, Arc<dyn EnqueueExtensions>>,
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
            enqueue_extensions: self.enqueue_extensions.clone(),
            meter: self.meter.clone(),
            id: RegistryId::default(),
        }
    }

    /// Whether a change of this kind may help a pod that one of these plugins refused.
    pub fn is_event_of_interest(&self, event: ClusterEvent, plugins: &BTreeSet<&'static str>) -> bool {
        let is_moving = event.actions != ActionType::NONE;
        event.resource == EventResource::WildCard
            || is_moving && plugins.iter().any(|plugin| self.is_registered(plugin, event))
    }

    /// Whether the change may help the pod that these plugins refused: whether one of them says so.
    pub fn is_worth_requeuing(
        &self,
        pod: &Pod,
        plugins: &BTreeSet<&'static str>,
        change: &ClusterChange,
        world: &Snapshot<'_>,
    ) -> bool {
        // Of many objects at once, or of none, no plugin can judge.
        let has_objects = change.old.is_some() || change.new.is_some();
        let helps = |plugin: &&'static str| match self.enqueue_extensions.get(*plugin) {
            Some(extensions) if has_objects => extensions.hint(pod, change, world) == QueueingHint::Queue,
            _ => true,
        };
        let mut asked = plugins.iter().filter(|plugin| self.is_registered(plugin, change.event));
        change.event.resource == EventResource::WildCard || !change.is_kept_below(pod) && asked.any(helps)
    }

    /// A plugin that does not say which changes help is interested in all.
    fn is_registered(&self, plugin: &str, event: ClusterEvent) -> bool {
        let extensions = self.enqueue_extensions.get(plugin);
        extensions
            .is_none_or(|one| one.events_to_register().iter().any(|registered| registered.covers(event)))
    }

    pub fn id(&self) -> RegistryId {
        self.id.clone()
    }
}
