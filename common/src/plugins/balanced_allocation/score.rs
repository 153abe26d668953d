//! How much more even the use of a node's resources becomes with the pod.

use crate::framework::SCORE_MAX;
use crate::plugins::node_resources::shares::ResourceShare;

/// The score of a node: 75 if the balance does not change, up to 100 if it gets better, down to 50 if it gets worse.
pub(super) fn score(shares: impl Iterator<Item = ResourceShare> + Clone) -> i64 {
    let with = evenness(shares.clone().map(|share| (share.requested, share.allocatable)));
    let without = evenness(shares.map(|share| (share.used, share.allocatable)));
    let half = SCORE_MAX / 2;
    // Only negative amounts give scores outside these bounds.
    (half + (half + with - without) / 2).clamp(0, SCORE_MAX)
}

/// How even the use of resources is: 100 less the standard deviation of their used fractions, in percent.
#[expect(
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    reason = "upstream's formula, to the last bit"
)]
fn evenness(uses: impl Iterator<Item = (i64, i64)> + Clone) -> i64 {
    let fractions = uses.map(|(used, allocatable)| (used as f64 / allocatable as f64).min(1.0));
    let count = fractions.clone().count();
    let deviation = if count == 2 {
        let mut both = fractions;
        let (one, other) = (both.next().unwrap_or(0.0), both.next().unwrap_or(0.0));
        ((one - other) / 2.0).abs()
    } else if count > 2 {
        let total = fractions.clone().fold(0.0, |total, fraction| total + fraction);
        let mean = total / count as f64;
        let sum = fractions.fold(0.0, |sum, fraction| sum + (fraction - mean) * (fraction - mean));
        (sum / count as f64).sqrt()
    } else {
        0.0
    };
    truncated((1.0 - deviation) * SCORE_MAX as f64)
}

/// Drops the fraction.
#[expect(
    clippy::cast_possible_truncation,
    reason = "that is what it is for; numbers out of range become the last one"
)]
fn truncated(number: f64) -> i64 {
    number as i64
}
