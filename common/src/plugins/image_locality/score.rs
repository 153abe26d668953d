//! What it is worth to have some of a pod's images.

use super::table::Spread;
use crate::framework::SCORE_MAX;
use crate::model::ids::Text;

const MIB: i64 = 1024 * 1024;

/// Less than this is not worth anything.
const SIZE_MIN: i64 = 23 * MIB;

/// More than this for each image is not worth more.
const SIZE_MAX: i64 = 1000 * MIB;

/// One more than the largest number, as a float.
const NUMBERS_END: f64 = 9_223_372_036_854_775_808.0;

/// The images of a pod.
pub(super) struct Images {
    /// Each once, in the pod's order.
    pub(super) names: Box<[Text]>,
    /// What having each of them counts: its size, scaled, as often as the pod names it.
    worths: Box<[i64]>,
    /// How many the pod names.
    count: usize,
}

impl Images {
    /// The images `all`, in a cluster of so many nodes.
    pub(super) fn new(all: &[Text], nodes: usize, spread: impl Fn(&str) -> Spread) -> Self {
        let mut names: Vec<Text> = Vec::with_capacity(all.len());
        let mut worths: Vec<i64> = Vec::with_capacity(all.len());
        for name in all {
            let worth = scaled(spread(name), nodes);
            match names.iter().zip(&mut worths).find(|(known, _)| *known == name) {
                // As in Go, a sum that is too large comes out at the other end.
                Some((_, known)) => *known = known.wrapping_add(worth),
                None => {
                    names.push(name.clone());
                    worths.push(worth);
                }
            }
        }
        Self { names: names.into(), worths: worths.into(), count: all.len() }
    }

    /// How many different ones there are.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The score of a node that has these, by their places in the list.
    pub(super) fn score(&self, present: impl Iterator<Item = usize>) -> i64 {
        let worths = present.filter_map(|image| self.worths.get(image));
        let sum = worths.fold(0_i64, |sum, worth| sum.wrapping_add(*worth));
        score(sum, self.count)
    }
}

/// What images that are worth `sum` score, for a pod that has `count` of them.
fn score(sum: i64, count: usize) -> i64 {
    let most = i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(SIZE_MAX);
    let sum = if sum < SIZE_MIN { SIZE_MIN } else { sum.min(most) };
    let share = i128::from(SCORE_MAX) * i128::from(sum - SIZE_MIN);
    let score = share.checked_div(i128::from(most - SIZE_MIN)).unwrap_or(0);
    i64::try_from(score).unwrap_or(SCORE_MAX)
}

/// The size of an image, the smaller the fewer nodes have it: else all pods would go to the first that has it.
#[expect(
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    reason = "upstream's formula, to the last bit"
)]
#[expect(clippy::cast_possible_truncation, reason = "what stands after the point does not count")]
fn scaled(spread: Spread, nodes: usize) -> i64 {
    if nodes == 0 {
        return 0;
    }
    let scaled = spread.size as f64 * (f64::from(spread.nodes) / nodes as f64);
    // What is too large becomes the lowest number in Go, where the processor decides.
    if scaled >= NUMBERS_END { i64::MIN } else { scaled as i64 }
}

#[cfg(test)]
mod tests {
    use super::{Images, MIB, Spread, scaled, score};
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
            assert_eq!(scaled(Spread { nodes: having, size }, nodes), expected, "{size} {having}/{nodes}");
        }
        assert_eq!(scaled(Spread { nodes: 1, size: i64::MAX }, 1), i64::MIN, "2^63 is no number");
        assert_eq!(scaled(Spread { nodes: 1, size: 1 }, 0), 0);
    }

    proptest! {
        #[test]
        fn a_score_is_a_score(
            sizes in prop::collection::vec((any::<i64>(), 0..5_u32), 0..9), nodes in 0..5_usize,
        ) {
            let names: Vec<_> = (0..sizes.len()).map(|index| format!("i{}", index / 2).into()).collect();
            let spread = |name: &str| {
                let index: usize = name[1..].parse().unwrap();
                Spread { size: sizes[index].0, nodes: sizes[index].1 }
            };
            let images = Images::new(&names, nodes, spread);
            let score = images.score(0..images.len());
            prop_assert!((0..=SCORE_MAX).contains(&score), "{score}");
            prop_assert_eq!(images.score(std::iter::empty()), 0);
        }
    }
}
