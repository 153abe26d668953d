//! BuildImageLocality: a table of cases.

use super::BuildImageLocality;
use crate::framework::{Scope, Score as _};
use crate::testing::{ClusterBuilder, PodBuilder, cluster_builder, node, now, pod, raw_and_scores};
use serde_json::json;

fn plugin(env: &str) -> BuildImageLocality {
    BuildImageLocality { env: env.into() }
}

fn annotated(image: &str) -> PodBuilder {
    pod("p").with("/metadata/annotations/reserve~1build-image", json!(image))
}

fn with_env(pod: PodBuilder, name: &str, value: &str) -> PodBuilder {
    pod.with(
        "/spec/containers/0/env",
        json!([{ "name": "PATH", "value": "/" }, { "name": name, "value": value }]),
    )
}

fn test_cluster() -> ClusterBuilder {
    let image = |name: &str, names: &[&str]| node(name).image(&["x:1"], 1).image(names, 1 << 30);
    let torch = ["r.example/torch:2.1", "r.example/torch@sha256:aa"];
    cluster_builder()
        .node(image("n1", &torch))
        .node(image("n2", &["base:latest"]))
        .node(image("n3", &["r.example:5000/base:latest"]))
        .node(node("n4"))
}

#[test]
fn nodes_that_have_the_image_score_high() {
    let table: [(&str, PodBuilder, Option<[i64; 4]>); 15] = [
        ("BUILD_IMAGE", pod("p"), None),
        ("BUILD_IMAGE", pod("p").image("base"), None),
        ("BUILD_IMAGE", annotated(""), None),
        ("BUILD_IMAGE", annotated("r.example/torch:2.1"), Some([100, 0, 0, 0])),
        ("BUILD_IMAGE", annotated("r.example/torch@sha256:aa"), Some([100, 0, 0, 0])),
        ("BUILD_IMAGE", annotated("r.example/torch"), Some([0, 0, 0, 0])),
        ("BUILD_IMAGE", annotated("base"), Some([0, 100, 0, 0])),
        ("BUILD_IMAGE", annotated("r.example:5000/base"), Some([0, 0, 100, 0])),
        ("BUILD_IMAGE", annotated("x:1"), Some([100, 100, 100, 0])),
        ("BUILD_IMAGE", annotated("gone"), Some([0, 0, 0, 0])),
        ("BUILD_IMAGE", with_env(pod("p"), "BUILD_IMAGE", "base"), Some([0, 100, 0, 0])),
        ("BUILD_IMAGE", with_env(pod("p"), "OTHER_IMAGE", "base"), None),
        ("OTHER_IMAGE", with_env(pod("p"), "OTHER_IMAGE", "base:latest"), Some([0, 100, 0, 0])),
        ("", with_env(pod("p"), "BUILD_IMAGE", "base"), None),
        (
            "BUILD_IMAGE",
            with_env(annotated("r.example/torch:2.1"), "BUILD_IMAGE", "base"),
            Some([100, 0, 0, 0]),
        ),
    ];
    for (env, pod, expected) in table {
        let found = raw_and_scores(&plugin(env), test_cluster(), &pod);
        let expected = expected.map(|scores| (scores.to_vec(), scores.to_vec()));
        assert_eq!(found, expected, "{env}: {:?}", pod.build().build_image());
    }
}

#[test]
fn pods_that_differ_in_the_annotation_alone_are_told_apart() {
    let mut cluster = test_cluster().cluster();
    let snapshot = cluster.snapshot(now());
    let scope = |pod: PodBuilder| {
        let pod = pod.build();
        match plugin("BUILD_IMAGE").scope(&snapshot.context(&pod), &snapshot) {
            Scope::Node(salt) => salt,
            Scope::Cluster => panic!("it follows from the node and the image"),
        }
    };
    assert_ne!(scope(annotated("a")), scope(annotated("b")));
    assert_eq!(scope(annotated("a")), scope(annotated("a:latest")));
}
