//! How full a node would be, as a score: the emptier the better, the fuller the better, or as a line says.

use super::shares::Share;
use crate::config::{ScoringStrategy, ShapePoint};
use crate::framework::SCORE_MAX;
use crate::plugins::line::on_line;

/// How full a node is when it is full.
const FULL: i64 = 100;

/// The score of a node with these shares.
pub(super) fn score(strategy: &ScoringStrategy, shares: impl Iterator<Item = Share>) -> i64 {
    let score: fn(&Share) -> i64 = match strategy {
        ScoringStrategy::LeastAllocated => least,
        ScoringStrategy::MostAllocated => most,
        ScoringStrategy::RequestedToCapacityRatio(shape) => return by_shape(shape, shares),
    };
    let (sum, weights) = weighed(shares.map(|share| (score(&share), share.weight)));
    bounded(divided(sum, weights))
}

/// What would be left, in percent.
fn least(share: &Share) -> i64 {
    if share.requested > share.allocatable {
        return 0;
    }
    let left = i128::from(share.allocatable) - i128::from(share.requested);
    percent(left, share.allocatable)
}

/// What would be used, in percent.
fn most(share: &Share) -> i64 {
    percent(i128::from(share.requested.min(share.allocatable)), share.allocatable)
}

/// The mean of what the line says about each resource. What scores nothing does not count at all, as upstream.
fn by_shape(shape: &[ShapePoint], shares: impl Iterator<Item = Share>) -> i64 {
    let utilization = |share: &Share| match share.requested > share.allocatable {
        true => FULL,
        false => percent(i128::from(share.requested), share.allocatable),
    };
    let scores = shares.map(|share| (on_line(shape, utilization(&share)), share.weight));
    let (sum, weights) = weighed(scores.filter(|(score, _)| *score > 0));
    // Rounded half up, which is what upstream's rounding of the quotient comes to.
    bounded(divided(2 * sum + weights, 2 * weights))
}

/// The sum of the scores, each as often as it weighs, and the sum of the weights.
fn weighed(scores: impl Iterator<Item = (i64, i64)>) -> (i128, i128) {
    scores.fold((0, 0), |(sum, weights), (score, weight)| {
        let weight = i128::from(weight);
        (sum + i128::from(score) * weight, weights + weight)
    })
}

fn percent(part: i128, whole: i64) -> i64 {
    bounded(divided(part * i128::from(SCORE_MAX), i128::from(whole)))
}

/// The quotient, or nothing if there is nothing to divide by. Amounts mostly fit half the width, in which a division
/// takes a tenth of the time; and there is one for each resource of each node.
fn divided(dividend: i128, divisor: i128) -> i128 {
    match (i64::try_from(dividend), i64::try_from(divisor)) {
        (Ok(dividend), Ok(divisor)) => dividend.checked_div(divisor).map_or(0, i128::from),
        _ => dividend.checked_div(divisor).unwrap_or(0),
    }
}

/// A node that has less than nothing, or uses less than nothing, scores what others score at the most.
fn bounded(score: i128) -> i64 {
    i64::try_from(score.clamp(0, i128::from(SCORE_MAX))).unwrap_or(0)
}
