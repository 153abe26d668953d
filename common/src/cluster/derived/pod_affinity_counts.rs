//! How many pods have affinity terms about other pods. Where there are none, InterPodAffinity need not look.

use crate::model::Pod;
use crate::model::pod::Feature;

/// How many pods have affinity terms about other pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodAffinityCounts {
    /// Pods with terms of any kind.
    pub all: usize,
    /// Pods with required anti-affinity.
    pub repelling: usize,
}

impl PodAffinityCounts {
    /// The counts of one pod.
    pub(in crate::cluster) fn of(pod: &Pod) -> Self {
        let features = pod.spec.features;
        Self {
            all: usize::from(features.contains(Feature::InterPodAffinity)),
            repelling: usize::from(features.contains(Feature::RequiredAntiAffinity)),
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn with(self, more: Self) -> Self {
        Self { all: self.all + more.all, repelling: self.repelling + more.repelling }
    }

    /// The difference of both.
    #[must_use]
    pub fn without(self, less: Self) -> Self {
        Self {
            all: self.all.saturating_sub(less.all),
            repelling: self.repelling.saturating_sub(less.repelling),
        }
    }
}
