//! How many pods have affinity terms about other pods. Where there are none, InterPodAffinity need not look.

use crate::model::{Feature, Pod};

/// How many pods have affinity terms about other pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodAffinityCounts {
    pub all: usize,
    pub repelling: usize,
}

impl PodAffinityCounts {
    pub(in crate::cluster) fn of(pod: &Pod) -> Self {
        let features = pod.spec.features;
        Self {
            all: usize::from(features.contains(Feature::InterPodAffinity)),
            repelling: usize::from(features.contains(Feature::RequiredAntiAffinity)),
        }
    }

    #[must_use]
    pub fn with(self, more: Self) -> Self {
        Self { all: self.all + more.all, repelling: self.repelling + more.repelling }
    }

    #[must_use]
    pub fn without(self, less: Self) -> Self {
        Self {
            all: self.all.saturating_sub(less.all),
            repelling: self.repelling.saturating_sub(less.repelling),
        }
    }
}
