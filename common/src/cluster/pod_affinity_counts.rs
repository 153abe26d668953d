//! Pods that mind who else is near, counted: where there are none, nobody need ask.

use crate::model::Pod;
use crate::model::pod::Feature;

/// How many pods have affinity terms about other pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodAffinityCounts {
    /// Terms of any kind.
    pub all: usize,
    /// Required anti-affinity.
    pub repelling: usize,
}

impl PodAffinityCounts {
    /// The pod itself, if it is one.
    pub(super) fn of(pod: &Pod) -> Self {
        let features = pod.spec.features;
        Self {
            all: usize::from(features.contains(Feature::InterPodAffinity)),
            repelling: usize::from(features.contains(Feature::RequiredAntiAffinity)),
        }
    }

    /// Both together.
    #[must_use]
    pub fn with(self, more: Self) -> Self {
        Self { all: self.all + more.all, repelling: self.repelling + more.repelling }
    }

    /// These without those.
    #[must_use]
    pub fn without(self, those: Self) -> Self {
        Self {
            all: self.all.saturating_sub(those.all),
            repelling: self.repelling.saturating_sub(those.repelling),
        }
    }
}
