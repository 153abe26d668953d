//! Which plugins rejected which pods at their last attempt, for the metric `scheduler_unschedulable_pods`.

use common::model::{Pod, PodKey, Text};
use std::collections::{BTreeMap, BTreeSet};

/// The pods whose last attempt found no node, each with its scheduler and the plugins that rejected it.
#[derive(Default)]
pub(super) struct UnschedulablePods(BTreeMap<PodKey, (Text, BTreeSet<&'static str>)>);

impl UnschedulablePods {
    pub(super) fn insert(&mut self, pod: &Pod, plugins: BTreeSet<&'static str>) {
        self.0.insert(pod.key.clone(), (pod.spec.scheduler_name.clone(), plugins));
    }

    /// The pod has a node, or is gone.
    pub(super) fn remove(&mut self, pod: &PodKey) {
        self.0.remove(pod);
    }

    /// The number of pods by scheduler and plugin.
    pub(super) fn count(&self) -> BTreeMap<(Text, &'static str), usize> {
        let mut counts = BTreeMap::new();
        for (profile, plugins) in self.0.values() {
            for plugin in plugins {
                *counts.entry((profile.clone(), *plugin)).or_default() += 1;
            }
        }
        counts
    }
}
