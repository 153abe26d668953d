//! The score: how full the volumes of a pod would be.

use super::find::PodVolumes;
use crate::config::ShapePoint;
use crate::plugins::broken_linear::broken_linear;

/// The utilization of a full volume, in percent.
const FULL: i64 = 100;

/// The scoring function from utilization, in percent, to a score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape(Vec<ShapePoint>);

/// What a pod would request of one storage class, and how much there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClassUse<'f> {
    class: &'f str,
    requested: i64,
    capacity: i64,
}

/// The use of each storage class: of the existing volumes that the pod would get; if there are none, of the tracked capacity.
pub(super) fn class_uses<'f>(volumes: &'f PodVolumes<'_>) -> Vec<ClassUse<'f>> {
    let mut all: Vec<ClassUse<'f>> = Vec::new();
    if volumes.existing.is_empty() {
        for (claim, capacity) in &volumes.provisioned {
            let Some(capacity) = capacity else { continue };
            let one = class(&mut all, claim.class.as_deref().unwrap_or_default());
            // All claims of a class share one capacity.
            one.capacity = capacity.capacity.unwrap_or_default().value();
            one.requested = one.requested.wrapping_add(claim.requested.unwrap_or_default().value());
        }
    }
    for (claim, volume) in &volumes.existing {
        let one = class(&mut all, volume.class.as_deref().unwrap_or_default());
        one.requested = one.requested.wrapping_add(claim.requested.unwrap_or_default().value());
        one.capacity = one.capacity.wrapping_add(volume.capacity.value());
    }
    all
}

fn class<'a, 'f>(all: &'a mut Vec<ClassUse<'f>>, class: &'f str) -> &'a mut ClassUse<'f> {
    let existing = all.iter().position(|one| one.class == class);
    let index = existing.unwrap_or_else(|| {
        all.push(ClassUse { class, requested: 0, capacity: 0 });
        all.len() - 1
    });
    &mut all[index]
}

impl Shape {
    /// The function through these points.
    pub(super) fn new(points: &[ShapePoint]) -> Self {
        Self(points.to_vec())
    }

    /// The rounded mean over the classes; 0 if there are none.
    pub(super) fn score(&self, used: &[ClassUse<'_>]) -> i64 {
        let Ok(count @ 1..) = i64::try_from(used.len()) else { return 0 };
        let sum: i64 = used.iter().map(|one| broken_linear(&self.0, one.utilization())).sum();
        (2 * sum + count).div_euclid(2 * count)
    }
}

impl ClassUse<'_> {
    fn utilization(&self) -> i64 {
        if self.capacity == 0 || self.requested > self.capacity {
            return FULL;
        }
        self.requested.wrapping_mul(FULL).wrapping_div(self.capacity)
    }
}
