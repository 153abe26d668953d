//! Which plugins keep which pods from a place, as far as is known: from their last try.

use common::model::ids::Text;
use common::model::{Pod, PodKey};
use std::collections::{BTreeMap, BTreeSet};

/// The pods that were last told that they have no place.
#[derive(Default)]
pub(super) struct Rejected(BTreeMap<PodKey, (Text, BTreeSet<&'static str>)>);

impl Rejected {
    /// The pod has no place because of these.
    pub(super) fn insert(&mut self, pod: &Pod, plugins: BTreeSet<&'static str>) {
        self.0.insert(pod.key.clone(), (pod.spec.scheduler_name.clone(), plugins));
    }

    /// It has one, or is gone.
    pub(super) fn remove(&mut self, pod: &PodKey) {
        self.0.remove(pod);
    }

    /// How many there are, by their scheduler and each plugin.
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
