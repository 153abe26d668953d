//! The score of a node that has some of a pod's images.

use super::table::ImageSummary;
use crate::framework::SCORE_MAX;
use crate::model::ids::Text;

const MIB: i64 = 1024 * 1024;

/// A sum of sizes up to this scores 0.
const SIZE_MIN: i64 = 23 * MIB;

/// A sum of sizes of this much for each image scores the maximum.
const SIZE_MAX: i64 = 1000 * MIB;

/// One more than the largest `i64`.
const I64_END: f64 = 9_223_372_036_854_775_808.0;

pub(super) struct PodImages {
    /// The different images, in the pod's order.
    pub(super) names: Box<[Text]>,
    /// The scaled size of each image, multiplied with how often the pod names it.
    weights: Box<[i64]>,
    /// The number of images that the pod names, repeated ones included.
    count: usize,
}

impl PodImages {
    /// The images `all` in a cluster of `nodes` nodes; `summary` says how large an image is and how many nodes have it.
    pub(super) fn new(all: &[Text], nodes: usize, summary: impl Fn(&str) -> ImageSummary) -> Self {
        let mut names: Vec<Text> = Vec::with_capacity(all.len());
        let mut weights: Vec<i64> = Vec::with_capacity(all.len());
        for name in all {
            let weight = scaled(summary(name), nodes);
            match names.iter().zip(&mut weights).find(|(other, _)| *other == name) {
                // A sum that is too large wraps around, as in Go.
                Some((_, sum)) => *sum = sum.wrapping_add(weight),
                None => {
                    names.push(name.clone());
                    weights.push(weight);
                }
            }
        }
        Self { names: names.into(), weights: weights.into(), count: all.len() }
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn score(&self, present: impl Iterator<Item = usize>) -> i64 {
        let weights = present.filter_map(|image| self.weights.get(image));
        let sum = weights.fold(0_i64, |sum, weight| sum.wrapping_add(*weight));
        score(sum, self.count)
    }
}

/// The score for a sum of scaled sizes, of a pod that names `count` images.
fn score(sum: i64, count: usize) -> i64 {
    let most = i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(SIZE_MAX);
    let sum = if sum < SIZE_MIN { SIZE_MIN } else { sum.min(most) };
    let share = i128::from(SCORE_MAX) * i128::from(sum - SIZE_MIN);
    let score = share.checked_div(i128::from(most - SIZE_MIN)).unwrap_or(0);
    i64::try_from(score).unwrap_or(SCORE_MAX)
}

/// The size of an image, multiplied with the share of nodes that have it. Otherwise all pods would go to the first node that has
/// it.
#[expect(
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    reason = "upstream's formula, to the last bit"
)]
#[expect(clippy::cast_possible_truncation, reason = "what stands after the point does not count")]
fn scaled(summary: ImageSummary, nodes: usize) -> i64 {
    if nodes == 0 {
        return 0;
    }
    let scaled = summary.size as f64 * (f64::from(summary.nodes) / nodes as f64);
    // In Go the conversion of a float that is too large depends on the processor; on amd64 it gives the lowest number.
    if scaled >= I64_END { i64::MIN } else { scaled as i64 }
}

#[cfg(test)]
mod tests {
    use super::{ImageSummary, MIB, PodImages, scaled, score};
    use crate::framework::SCORE_MAX;
    use proptest::prelude::*;

    #[test]
    fn a_score_grows_with_the_size() {
        let table = [
            (0, 1, 0),
            (i64::MIN, 1, 0),
            (23 * MIB, 1, 0),
            (24 * MIB, 1, 0),
            (33 * MIB, 1, 1),
            (500 * MIB, 1, 48),
            (1000 * MIB, 1, 100),
            (i64::MAX, 1, 100),
            (1000 * MIB, 2, 49),
            (2000 * MIB, 2, 100),
            (0, 0, 0),
            (i64::MAX, 0, 100),
        ];
        for (sum, count, expected) in table {
            assert_eq!(score(sum, count), expected, "{sum} {count}");
        }
    }

    #[test]
    fn a_size_is_scaled_by_how_many_nodes_have_it() {
        let table = [(100, 1, 2, 50), (100, 1, 3, 33), (100, 3, 3, 100), (7, 0, 3, 0), (-100, 1, 3, -33)];
        for (size, having, nodes, expected) in table {
            assert_eq!(
                scaled(ImageSummary { nodes: having, size }, nodes),
                expected,
                "{size} {having}/{nodes}"
            );
        }
        assert_eq!(scaled(ImageSummary { nodes: 1, size: i64::MAX }, 1), i64::MIN, "2^63 is no number");
        assert_eq!(scaled(ImageSummary { nodes: 1, size: 1 }, 0), 0);
    }

    proptest! {
        #[test]
        fn a_score_is_a_score(
            sizes in prop::collection::vec((any::<i64>(), 0..5_u32), 0..9), nodes in 0..5_usize,
        ) {
            let names: Vec<_> = (0..sizes.len()).map(|index| format!("i{}", index / 2).into()).collect();
            let summary = |name: &str| {
                let index: usize = name[1..].parse().unwrap();
                ImageSummary { size: sizes[index].0, nodes: sizes[index].1 }
            };
            let images = PodImages::new(&names, nodes, summary);
            let score = images.score(0..images.len());
            prop_assert!((0..=SCORE_MAX).contains(&score), "{score}");
            prop_assert_eq!(images.score(std::iter::empty()), 0);
        }
    }
}
