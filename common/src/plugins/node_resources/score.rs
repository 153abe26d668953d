//! The scoring strategies: LeastAllocated, MostAllocated and RequestedToCapacityRatio.

use super::shares::ResourceShare;
use crate::config::{ScoringStrategy, ShapePoint};
use crate::framework::SCORE_MAX;
use crate::plugins::broken_linear::broken_linear;

/// The utilization of a full node, in percent.
const FULL: i64 = 100;

pub(super) fn score(strategy: &ScoringStrategy, shares: impl Iterator<Item = ResourceShare>) -> i64 {
    let score: fn(&ResourceShare) -> i64 = match strategy {
        ScoringStrategy::LeastAllocated => least,
        ScoringStrategy::MostAllocated => most,
        ScoringStrategy::RequestedToCapacityRatio(shape) => return by_shape(shape, shares),
    };
    let (sum, weights) = weighted_sum(shares.map(|share| (score(&share), share.weight)));
    clamped(quotient(sum, weights))
}

/// The free part with the pod, in percent.
fn least(share: &ResourceShare) -> i64 {
    if share.requested > share.allocatable {
        return 0;
    }
    let left = i128::from(share.allocatable) - i128::from(share.requested);
    percent(left, share.allocatable)
}

/// The used part with the pod, in percent.
fn most(share: &ResourceShare) -> i64 {
    percent(i128::from(share.requested.min(share.allocatable)), share.allocatable)
}

/// The weighted mean of the shape's scores over the resources. A resource that scores 0 does not count, as in kube-scheduler.
fn by_shape(shape: &[ShapePoint], shares: impl Iterator<Item = ResourceShare>) -> i64 {
    let utilization = |share: &ResourceShare| match share.requested > share.allocatable {
        true => FULL,
        false => percent(i128::from(share.requested), share.allocatable),
    };
    let scores = shares.map(|share| (broken_linear(shape, utilization(&share)), share.weight));
    let (sum, weights) = weighted_sum(scores.filter(|(score, _)| *score > 0));
    // Rounded half up, which gives the same result as kube-scheduler's rounding of the quotient.
    clamped(quotient(2 * sum + weights, 2 * weights))
}

/// The sum of the scores multiplied with their weights, and the sum of the weights.
fn weighted_sum(scores: impl Iterator<Item = (i64, i64)>) -> (i128, i128) {
    scores.fold((0, 0), |(sum, weights), (score, weight)| {
        let weight = i128::from(weight);
        (sum + i128::from(score) * weight, weights + weight)
    })
}

fn percent(part: i128, whole: i64) -> i64 {
    clamped(quotient(part * i128::from(SCORE_MAX), i128::from(whole)))
}

/// The quotient; 0 for a divisor of 0. Most amounts fit an `i64`, whose division takes a tenth of the time of an `i128`; there is
/// one division for each resource of each node.
fn quotient(dividend: i128, divisor: i128) -> i128 {
    match (i64::try_from(dividend), i64::try_from(divisor)) {
        (Ok(dividend), Ok(divisor)) => dividend.checked_div(divisor).map_or(0, i128::from),
        _ => dividend.checked_div(divisor).unwrap_or(0),
    }
}

/// The score within 0 and [`SCORE_MAX`]. Only negative amounts give scores outside.
fn clamped(score: i128) -> i64 {
    i64::try_from(score.clamp(0, i128::from(SCORE_MAX))).unwrap_or(0)
}
