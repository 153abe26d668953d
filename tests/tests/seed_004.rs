//! Seed 004 with the files in `manifests/examples/004-extension-points`: the log tells every extension point in order,
//! and a pod that builds on an image goes where the image is.

use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{Cluster, ControlPlane, bare_pod, node, node_of};
use reserve_tests::programs::{Daemon, daemon, example};
use std::time::Duration;

const SEED: &str = "004-extension-points";
const NODES: [&str; 2] = ["yigou-dev-102-45", "yigou-dev-102-46"];
const SOON: Duration = Duration::from_secs(90);

async fn start(name: &str) -> Result<(Cluster, Daemon)> {
    let cluster = ControlPlane::start(name).await?;
    let [first, second] = NODES;
    cluster.add_node(node(first)).await?;
    cluster.add_node(node(second).image("example.com/torch:2.1", 5_000_000_000)).await?;
    let shape = daemon("wyq").serves("wyq-build").configuration(example(SEED, "scheduler.yaml"));
    let daemon = shape.start(&cluster).await?;
    Ok((cluster, daemon))
}

/// What Trace logged about a pod: the point, and the node if it names one.
fn traced(log: &str, pod: &str) -> Vec<(String, Option<String>)> {
    let points = [
        "PreEnqueue",
        "PreFilter",
        "Filter",
        "PostFilter",
        "PreScore",
        "Score",
        "NormalizeScore",
        "Reserve",
        "Permit",
        "PreBind",
        "Bind",
        "PostBind",
        "Unreserve",
    ];
    let mut found = Vec::new();
    for line in log.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let point = words.iter().find(|word| points.contains(&word.trim_end_matches(':')));
        let field = |name: &str| {
            words.iter().find_map(|word| word.strip_prefix(name)).map(|text| text.trim_matches('"'))
        };
        if let Some(point) = point.filter(|_| field("pod=") == Some(pod)) {
            found.push((point.trim_end_matches(':').to_owned(), field("node=").map(str::to_owned)));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_tells_every_extension_point_in_order() -> Result<()> {
    let (cluster, daemon) = start("seed_004_points").await?;
    cluster.apply_file(example(SEED, "workload.yaml")).await?;
    let pod = cluster.wait_until_running("app=test", 1).await?.remove(0);
    let chosen = node_of(&pod).to_owned();
    let [first, second] = NODES;
    let expected = [
        ("PreEnqueue", None),
        ("PreFilter", None),
        ("Filter", Some(first)),
        ("Filter", Some(second)),
        ("PreScore", None),
        ("PreScore", Some(first)),
        ("PreScore", Some(second)),
        ("Score", Some(first)),
        ("Score", Some(second)),
        ("NormalizeScore", None),
        ("Reserve", Some(&*chosen)),
        ("Permit", Some(&*chosen)),
        ("PreBind", Some(&*chosen)),
        ("PostBind", Some(&*chosen)),
    ];
    let expected: Vec<(String, Option<String>)> =
        expected.into_iter().map(|(point, node)| (point.to_owned(), node.map(str::to_owned))).collect();
    cluster
        .wait_until("the log tells all of it", SOON, async || {
            let told = traced(&daemon.log()?, "default/test");
            ensure!(told == expected, "{told:#?}");
            Ok(())
        })
        .await?;
    let held = bare_pod("held").scheduler("wyq").pod_label("schedule", "never");
    let held = cluster.deploy(held).await?;
    let told = cluster.wait_until_unschedulable("default", &held.selector).await?;
    assert!(told.starts_with("0/2 nodes are available: pods with schedule=never are kept out."), "{told}");
    let log = daemon.log()?;
    assert!(log.contains("schedulerName: wyq") && log.contains("RandomScore"), "the configuration is logged");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_goes_to_the_node_that_has_its_image() -> Result<()> {
    let (cluster, _daemon) = start("seed_004_images").await?;
    let [_, with_image] = NODES;
    // Without the image the emptier node would be chosen.
    let heavy = bare_pod("heavy").cpu("3").pod_field("nodeName", with_image.into());
    cluster.deploy(heavy).await?;
    cluster.wait_until_running("app=heavy", 1).await?;
    cluster.apply_file(example(SEED, "build.yaml")).await?;
    let pod = cluster.wait_until_running("app=build", 1).await?.remove(0);
    assert_eq!(node_of(&pod), with_image);
    let named = bare_pod("named")
        .scheduler("wyq-build")
        .pod_annotation("reserve/build-image", "example.com/torch:2.1");
    let named = cluster.deploy(named).await?;
    let pod = cluster.wait_until_running(&named.selector, 1).await?.remove(0);
    assert_eq!(node_of(&pod), with_image);
    let plain = cluster.deploy(bare_pod("plain").scheduler("wyq-build")).await?;
    let pod = cluster.wait_until_running(&plain.selector, 1).await?.remove(0);
    assert_eq!(node_of(&pod), *NODES.first().context("no nodes")?, "nothing to build on: the emptier one");
    Ok(())
}
