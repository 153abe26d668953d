//! The plugins that take part, in order. Which ones those are is `plugins::default_registry`'s to say.

use super::{Filter, Score};
use crate::model::pod::{Feature, Features};

/// An ordered set of plugins.
#[derive(Default)]
pub struct Registry {
    filters: Vec<Box<dyn Filter>>,
    scores: Vec<Weighted>,
}

/// A score plugin with its weight.
pub struct Weighted {
    /// The plugin.
    pub plugin: Box<dyn Score>,
    /// What its normalised scores are multiplied with.
    pub weight: i64,
}

impl Registry {
    /// Adds a filter after those already there.
    #[must_use]
    pub fn filter(self, plugin: impl Filter + 'static) -> Self {
        self.filter_boxed(Box::new(plugin))
    }

    /// The same for a plugin chosen by name.
    #[must_use]
    pub fn filter_boxed(mut self, plugin: Box<dyn Filter>) -> Self {
        self.filters.push(plugin);
        self
    }

    /// Adds a score.
    #[must_use]
    pub fn score(self, plugin: impl Score + 'static, weight: i64) -> Self {
        self.score_boxed(Box::new(plugin), weight)
    }

    /// The same for a plugin chosen by name.
    #[must_use]
    pub fn score_boxed(mut self, plugin: Box<dyn Score>, weight: i64) -> Self {
        self.scores.push(Weighted { plugin, weight });
        self
    }

    /// The filters in order.
    pub fn filters(&self) -> impl Iterator<Item = &dyn Filter> {
        self.filters.iter().map(|plugin| &**plugin)
    }

    /// The scores.
    pub fn scores(&self) -> &[Weighted] {
        &self.scores
    }

    /// What of `features` no plugin here understands.
    pub fn unserved(&self, features: Features) -> Vec<Feature> {
        features.iter().filter(|feature| !self.serves(*feature)).collect()
    }

    /// Whether a plugin here understands `feature`.
    pub fn serves(&self, feature: Feature) -> bool {
        self.filters().any(|plugin| plugin.serves().contains(&feature))
    }
}
