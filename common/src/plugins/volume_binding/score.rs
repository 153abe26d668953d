//! How full the volumes of a pod would be, as a score.

use super::find::Found;
use crate::config::ShapePoint;
use crate::plugins::line::on_line;

/// As full as can be.
const FULL: i64 = 100;

/// A line from how full something is, in percent, to a score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape(Vec<ShapePoint>);

/// What a pod would use of one storage class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Used<'f> {
    class: &'f str,
    requested: i64,
    capacity: i64,
}

/// What a pod would use of each storage class: of the volumes that it gets, or else of what is left to make some.
pub(super) fn used<'f>(found: &'f Found<'_>) -> Vec<Used<'f>> {
    let mut all: Vec<Used<'f>> = Vec::new();
    if found.existing.is_empty() {
        for (claim, capacity) in &found.provisioned {
            let Some(capacity) = capacity else { continue };
            let one = class(&mut all, claim.class.as_deref().unwrap_or_default());
            // What is left is left for all claims together.
            one.capacity = capacity.capacity.unwrap_or_default().value();
            one.requested = one.requested.wrapping_add(claim.requested.unwrap_or_default().value());
        }
    }
    for (claim, volume) in &found.existing {
        let one = class(&mut all, volume.class.as_deref().unwrap_or_default());
        one.requested = one.requested.wrapping_add(claim.requested.unwrap_or_default().value());
        one.capacity = one.capacity.wrapping_add(volume.capacity.value());
    }
    all
}

fn class<'a, 'f>(all: &'a mut Vec<Used<'f>>, class: &'f str) -> &'a mut Used<'f> {
    let known = all.iter().position(|one| one.class == class);
    let index = known.unwrap_or_else(|| {
        all.push(Used { class, requested: 0, capacity: 0 });
        all.len() - 1
    });
    &mut all[index]
}

impl Shape {
    /// The line through these points.
    pub(super) fn new(points: &[ShapePoint]) -> Self {
        Self(points.to_vec())
    }

    /// The mean over the classes, rounded; nothing if there are none.
    pub(super) fn score(&self, used: &[Used<'_>]) -> i64 {
        let Ok(count @ 1..) = i64::try_from(used.len()) else { return 0 };
        let sum: i64 = used.iter().map(|one| on_line(&self.0, one.utilization())).sum();
        (2 * sum + count).div_euclid(2 * count)
    }
}

impl Used<'_> {
    fn utilization(&self) -> i64 {
        if self.capacity == 0 || self.requested > self.capacity {
            return FULL;
        }
        self.requested.wrapping_mul(FULL).wrapping_div(self.capacity)
    }
}
