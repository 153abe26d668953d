//! RandomScore: scores are reproducible, and evenly distributed.

use super::RandomScore;
use crate::testing::{ClusterBuilder, cluster_builder, node, pod, raw_and_scores};

fn test_cluster(nodes: usize) -> ClusterBuilder {
    (0..nodes)
        .fold(cluster_builder(), |test_cluster, index| test_cluster.node(node(&format!("node-{index}"))))
}

fn scores(seed: i64, nodes: usize, name: &str) -> Vec<i64> {
    let (raw, scores) = raw_and_scores(&RandomScore { seed }, test_cluster(nodes), &pod(name)).unwrap();
    assert_eq!(raw, scores, "they are normalised already");
    scores
}

#[test]
fn scores_stay_what_they_are() {
    // A change of these numbers changes where pods go.
    assert_eq!(scores(0, 5, "a"), GOLDEN[0]);
    assert_eq!(scores(0, 5, "b"), GOLDEN[1]);
    assert_eq!(scores(-7, 5, "a"), GOLDEN[2]);
}

const GOLDEN: [[i64; 5]; 3] = [[22, 14, 27, 22, 89], [79, 57, 16, 37, 47], [31, 22, 17, 12, 99]];

#[test]
fn every_number_comes_about_as_often() {
    let mut counts = [0_usize; 101];
    for name in ["a", "b", "c", "d"] {
        for score in scores(3, 1000, name) {
            counts[usize::try_from(score).unwrap()] += 1;
        }
    }
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(*least >= 15 && *most <= 75, "about 40 each: {counts:?}");
}
