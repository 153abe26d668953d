//! How full volumes would be.

use super::{by_hand, late, plugin, test_cluster, using};
use crate::config::{ShapePoint, VolumeBindingArgs};
use crate::framework::{Scope, Score};
use crate::plugins::volume_binding::VolumeBinding;
use crate::testing::{
    ClusterBuilder, claim, cluster_builder, csi_capacity, csi_driver, now, pod, raw_and_scores,
    storage_class, volume,
};
use serde_json::json;

fn raw(plugin: &VolumeBinding, test_cluster: ClusterBuilder, claims: &[&str]) -> Vec<i64> {
    let (raw, normalised) = raw_and_scores(plugin, test_cluster, &using(claims)).unwrap();
    assert_eq!(raw, normalised);
    raw
}

#[test]
fn what_there_is_nothing_to_say_about_scores_nothing() {
    assert_eq!(raw_and_scores(&plugin(), test_cluster(), &pod("p")), Some((vec![0, 0], vec![0, 0])));
    let bound = test_cluster().with(claim("data").bound_to("pv")).with(volume("pv"));
    assert_eq!(raw(&plugin(), bound, &["data"]), [0, 0]);
    let made = test_cluster().with(storage_class("late")).with(late("data"));
    assert_eq!(raw(&plugin(), made, &["data"]), [0, 0], "nobody keeps account");
}

#[test]
fn volumes_that_are_there_had_better_not_be_full() {
    let test_cluster = || test_cluster().with(by_hand()).with(late("data")).with(late("more").size("3Gi"));
    let pv =
        |name: &str, size: &str, zone: &str| volume(name).class("late").size(size).on_nodes("zone", zone);
    let one = || test_cluster().with(pv("a", "4Gi", "a")).with(pv("b", "1Gi", "b"));
    assert_eq!(raw(&plugin(), one(), &["data"]), [75, 0]);
    let two = test_cluster().with(pv("a1", "4Gi", "a")).with(pv("a2", "6Gi", "a"));
    assert_eq!(raw(&plugin(), two, &["data", "more"]), [60, 0], "all of a class together");
    let other = claim("other").class("x").size("1Gi");
    let classes = one().with(other).with(storage_class("x")).with(volume("c").class("x").size("3Gi"));
    assert_eq!(raw(&plugin(), classes, &["data", "other"]), [71, 34], "the mean of 75 and 67, 0 and 67");
    let point = |utilization, score| ShapePoint { utilization, score };
    let shape = vec![point(0, 0), point(50, 2), point(100, 10)];
    let args = VolumeBindingArgs { shape, ..VolumeBindingArgs::default() };
    let fuller = VolumeBinding::new(&args);
    assert_eq!(raw(&fuller, one(), &["data"]), [10, 100]);
}

#[test]
fn what_is_left_had_better_not_be_used_up() {
    let driver = csi_driver("csi.example.com").set("/spec/storageCapacity", json!(true));
    let left = |name: &str, size: &str, zone: &str| {
        let nodes = json!({ "matchLabels": { "zone": zone } });
        csi_capacity(name, "late").size(size).set("/nodeTopology", nodes)
    };
    let test_cluster = || {
        let test_cluster = test_cluster().with(storage_class("late")).with(driver.clone()).with(late("data"));
        test_cluster.with(late("more").size("4Gi")).with(left("a", "10Gi", "a")).with(left("b", "4Gi", "b"))
    };
    assert_eq!(raw(&plugin(), test_cluster(), &["data"]), [90, 75]);
    assert_eq!(raw(&plugin(), test_cluster(), &["data", "more"]), [50, 0], "together they may be too much");
    let both = test_cluster().with(volume("pv").class("late").size("2Gi"));
    assert_eq!(
        raw(&plugin(), both, &["data", "more"]),
        [50, 50],
        "only what is there counts, if anything is"
    );
}

#[test]
fn only_claims_without_volumes_look_further_than_the_node() {
    let scope = |test_cluster: ClusterBuilder, pod: &crate::testing::PodBuilder| {
        let mut cluster = test_cluster.cluster();
        let (snapshot, pod) = (cluster.snapshot(now()), pod.build());
        Score::scope(&plugin(), &snapshot.context(&pod), &snapshot)
    };
    assert_eq!(scope(cluster_builder(), &pod("p")), Scope::Node(0));
    assert_eq!(
        scope(cluster_builder().with(claim("data").bound_to("pv")), &using(&["data"])),
        Scope::Node(0)
    );
    assert_eq!(
        scope(cluster_builder().with(late("data")).with(by_hand()), &using(&["data"])),
        Scope::Cluster
    );
}
