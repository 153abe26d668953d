//! How much more even the use of a node's resources becomes.

use crate::framework::SCORE_MAX;
use crate::plugins::node_resources::shares::Share;

/// The score of a node: the middle of the upper half if the balance stays as it is, up to the highest if it gets better,
/// down to half of that if it gets worse.
pub(super) fn score(shares: impl Iterator<Item = Share> + Clone) -> i64 {
    let with = evenness(shares.clone().map(|share| (share.requested, share.allocatable)));
    let without = evenness(shares.map(|share| (share.used, share.allocatable)));
    let half = SCORE_MAX / 2;
    // Only a node that has less than nothing of something comes out of these bounds.
    (half + (half + with - without) / 2).clamp(0, SCORE_MAX)
}

/// How even the use of resources is: the highest score less the standard deviation of their fractions, in percent.
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

/// Without what stands after the point.
#[expect(
    clippy::cast_possible_truncation,
    reason = "that is what it is for; numbers out of range become the last one"
)]
fn truncated(number: f64) -> i64 {
    number as i64
}
