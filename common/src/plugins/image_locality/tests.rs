//! ImageLocality: a table of cases; and the kept table equals one that is computed anew.

use super::table::{ImageSummary, table};
use super::{COMPARED_IMAGES_MAX, ImageLocality};
use crate::cluster::{Cluster, Event, WatchEvent};
use crate::framework::{Scope, Score};
use crate::testing::{
    ClusterBuilder, NodeBuilder, PodBuilder, cluster_builder, node, now, pod, raw_and_scores,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const MIB: i64 = 1024 * 1024;

/// A node with images, each with its names and its size in MiB.
fn having(name: &str, images: &[(&[&str], i64)]) -> NodeBuilder {
    let image = |(names, size): &(&[&str], i64)| json!({ "names": names, "sizeBytes": size * MIB });
    node(name).with("/status/images", images.iter().map(image).collect::<Value>())
}

fn using(images: &[&str]) -> PodBuilder {
    let container = |image: &&str| json!({ "name": "c", "image": image });
    pod("p").with("/spec/containers", images.iter().map(container).collect::<Value>())
}

fn scored(world: ClusterBuilder, pod: &PodBuilder) -> Vec<i64> {
    let (raw, normalised) = raw_and_scores(&ImageLocality, world, pod).unwrap();
    assert_eq!(raw, normalised);
    raw
}

/// `n1` has `a:1` and `b:1`, `n2` has `a:1`, `n3` nothing.
fn test_cluster() -> ClusterBuilder {
    cluster_builder()
        .node(having("n1", &[(&["a:1", "a@sha256:0"], 600), (&["b:1"], 300)]))
        .node(having("n2", &[(&["a:1"], 600)]))
        .node(node("n3"))
}

/// 100 * (sum - 23) / (1000 * count - 23).
#[test]
fn who_has_the_images_is_better() {
    let table: [(&[&str], [i64; 3]); 9] = [
        (&["a:1"], [38, 38, 0]),
        (&["b:1"], [7, 0, 0]),
        (&["a:1", "b:1"], [24, 19, 0]),
        (&["a:1", "a:1"], [39, 39, 0]),
        (&["a@sha256:0"], [18, 0, 0]),
        (&["a"], [0, 0, 0]),
        (&["c:1"], [0, 0, 0]),
        (&["docker.io/library/a:1"], [0, 0, 0]),
        (&[], [0, 0, 0]),
    ];
    for (images, expected) in table {
        assert_eq!(scored(test_cluster(), &using(images)), expected, "{images:?}");
    }
}

#[test]
fn all_kinds_of_images_count_and_a_tag_is_not_needed() {
    let test_cluster = || {
        cluster_builder().node(having("n1", &[(&["a:latest", "host:5000/b:latest"], 1000)])).node(node("n2"))
    };
    assert_eq!(scored(test_cluster(), &using(&["a"])), [48, 0]);
    assert_eq!(scored(test_cluster(), &using(&["host:5000/b"])), [48, 0]);
    let init = using(&["x"]).with("/spec/initContainers", json!([{ "name": "i", "image": "a" }]));
    assert_eq!(scored(test_cluster(), &init), [24, 0], "100 * (500 - 23) / (2000 - 23)");
    let volume = using(&["x"]).with("/spec/volumes", json!([{ "name": "v", "image": { "reference": "a" } }]));
    assert_eq!(scored(test_cluster(), &volume), [24, 0]);
}

#[test]
fn the_first_node_says_how_large_an_image_is() {
    let test_cluster = |sizes: [i64; 3]| {
        let names = ["n3", "n1", "n2"].into_iter().zip(sizes);
        names.fold(cluster_builder(), |world, (name, size)| world.node(having(name, &[(&["a:1"], size)])))
    };
    assert_eq!(scored(test_cluster([500, 1000, 200]), &using(&["a:1"])), [100, 100, 100]);
    assert_eq!(scored(test_cluster([1000, 500, 200]), &using(&["a:1"])), [48, 48, 48]);
    let twice = cluster_builder().node(having("n1", &[(&["a:1"], 500), (&["a:1", "a:1"], 1000)]));
    assert_eq!(scored(twice, &using(&["a:1"])), [48], "a node that says it twice has it once");
}

fn scope(world: ClusterBuilder, pod: &PodBuilder) -> Scope {
    let (mut cluster, pod) = (world.cluster(), pod.build());
    let snapshot = cluster.snapshot(now());
    ImageLocality.scope(&snapshot.context(&pod), &snapshot)
}

#[test]
fn numbers_may_drift_as_long_as_scores_do_not() {
    let with = |size: i64| cluster_builder().node(having("n1", &[(&["a:1"], size)])).node(node("n2"));
    let asks = using(&["a:1", "b:1"]);
    assert_eq!(scope(with(20), &asks), scope(with(22), &asks), "both are nothing");
    assert_eq!(scope(with(600), &asks), scope(with(601), &asks));
    assert_ne!(scope(with(600), &asks), scope(with(900), &asks));
    let names: Vec<String> = (0..=COMPARED_IMAGES_MAX).map(|index| format!("i{index}:1")).collect();
    let many: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(scope(with(600), &using(&many)), Scope::Cluster);
    assert_ne!(scope(with(600), &using(&many[1..])), Scope::Cluster);
    assert_ne!(scope(with(600), &using(&["a:1"; 9])), Scope::Cluster, "one image, nine times");
}

#[test]
fn many_images_are_scored_alike() {
    let names: Vec<String> = (0..=COMPARED_IMAGES_MAX).map(|index| format!("i{index}:1")).collect();
    let many: Vec<&str> = names.iter().map(String::as_str).collect();
    let test_cluster =
        cluster_builder().node(having("n1", &[(&many, 1000)])).node(having("n2", &[(&many[..3], 1000)]));
    // 7000 MiB at the most; three images are on both nodes, four on one of them.
    let (all, three) = (100 * (3000 + 4 * 500 - 23) / (7000 - 23), 100 * (3000 - 23) / (7000 - 23));
    assert_eq!(scored(test_cluster, &using(&many)), [all, three]);
}

/// The table, computed anew from all nodes.
fn anew(cluster: &mut Cluster) -> BTreeMap<String, ImageSummary> {
    let mut found: BTreeMap<String, ImageSummary> = BTreeMap::new();
    for ledger in cluster.snapshot(now()).nodes() {
        let mut names: Vec<&str> = Vec::new();
        for image in &ledger.node.images {
            for name in &image.names {
                if !names.contains(&&**name) {
                    names.push(name);
                    let summary =
                        found.entry(name.to_string()).or_insert(ImageSummary { nodes: 0, size: image.size });
                    summary.nodes += 1;
                }
            }
        }
    }
    found
}

proptest! {
    #[test]
    fn what_is_kept_is_what_a_look_at_all_nodes_finds(
        steps in prop::collection::vec((0..5_u8, prop::collection::vec((0..4_u8, 0..4_u8, 1..3_i64), 0..4), any::<bool>()), 1..25),
    ) {
        let mut cluster = cluster_builder().cluster();
        for (version, (number, images, leaves)) in (2..).zip(steps) {
            let image = |(one, other, size): &(u8, u8, i64)| {
                json!({ "names": [format!("i{one}"), format!("i{other}")], "sizeBytes": size })
            };
            let named = node(&format!("n{number}")).version(version);
            let built = named.with("/status/images", images.iter().map(image).collect::<Value>()).build();
            cluster.apply(Event::Nodes(if leaves { WatchEvent::Deleted(built) } else { WatchEvent::Applied(built) }));
            let expected = anew(&mut cluster);
            let snapshot = cluster.snapshot(now());
            let kept = table(&snapshot);
            for index in 0..4 {
                let name = format!("i{index}");
                prop_assert_eq!(kept.get(&name), expected.get(&name).copied(), "{}", name);
            }
        }
    }
}
