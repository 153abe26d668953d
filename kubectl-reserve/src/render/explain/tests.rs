//! Golden output of `explain` at 80 columns, from the same ledgers and filters as the daemon's.

mod forms;
mod situations;

use super::{Layout, render, screen};
use crate::explain::testing::{Json, TestCluster, node, pod, test_cluster, uid};
use crate::explain::{Conclusion, NodeAnalysis, Options, Report};
use crate::ui::Paint;
use common::model::owner::OwnerKind;
use serde_json::json;

pub(super) const OWNER: &str = "11111111-0000-4000-8000-000000000001";
pub(super) const NOBODY: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";

/// The text of a report on one screen, and all of it, after the properties of every report were checked.
pub(super) fn text(report: &Report) -> String {
    check(report);
    for width in [80, 140] {
        check_size(&screen(report, &layout(width)), width);
    }
    let (screen, full) = (screen(report, &layout(80)), render(report, &layout(80)));
    let is_long = |line: &&str| line.chars().count() > 80 && !line.trim_start().starts_with("kubectl");
    let long: Vec<&str> = full.lines().filter(is_long).collect();
    assert!(long.is_empty(), "wider than 80 columns: {long:#?}");
    format!("{screen}\n=== --full\n{full}")
}

fn layout(width: usize) -> Layout {
    Layout { width, ..Layout::default() }
}

/// One screen has 24 lines; commands that are wider than it take several.
fn check_size(text: &str, width: usize) {
    let rows: usize = text.lines().map(|line| line.chars().count().div_ceil(width).max(1)).sum();
    assert!(rows <= 24, "{rows} rows of {width} columns:\n{text}");
    let is_long = |line: &&str| line.chars().count() > width && !line.trim_start().starts_with("kubectl");
    let long: Vec<&str> = text.lines().filter(is_long).collect();
    assert!(long.is_empty(), "wider than {width} columns: {long:#?}");
}

/// Checks that counts add up and numbers are consistent.
fn check(report: &Report) {
    let Conclusion::NodeAnalysis(analysis) = &report.conclusion else { return };
    let counted: usize = analysis.groups.iter().map(|group| group.nodes.len()).sum();
    assert_eq!(counted + analysis.fits.len(), analysis.nodes, "each node is counted once");
    for figure in analysis.misses.iter().flat_map(|miss| &miss.figures) {
        let numbers = &figure.numbers;
        assert_eq!(figure.free(), numbers.allocatable - numbers.used - numbers.reserved);
        assert_eq!(figure.short(), (numbers.asks - figure.free()).max(0));
    }
}

pub(super) fn explain(test_cluster: &TestCluster, pod: &Json) -> String {
    text(&test_cluster.explain(pod, Options::default()))
}

pub(super) fn analysis(report: &Report) -> &NodeAnalysis {
    match &report.conclusion {
        Conclusion::NodeAnalysis(analysis) => analysis,
        other => panic!("{other:?}"),
    }
}

pub(super) fn web(cpu: &str, memory: &str) -> Json {
    pod("web-7d9f-k2x8q").cpu(cpu).memory(memory).of(OwnerKind::Deployment, "web")
}

/// The nodes of the sample in the specification: one has the room and is cordoned, one has another label, the others are full in
/// different ways.
pub(super) fn sample() -> TestCluster {
    let big = |name: &str, used: &str| {
        (
            node(name).label("disktype", "ssd"),
            pod(&format!("{name}-load")).on(name).cpu(used).memory("1Gi").priority(1000),
        )
    };
    let mut test_cluster = test_cluster().workload(OwnerKind::Deployment, "default", "web");
    for (name, used) in
        [("node-2", "14400m"), ("node-4", "13900m"), ("node-5", "15100m"), ("node-6", "15800m")]
    {
        let (node, load) = big(name, used);
        test_cluster = test_cluster.node(node).pod(load);
    }
    let crunch = pod("crunch-0").namespace("batch").on("node-4").cpu("2").of(OwnerKind::Job, "crunch");
    test_cluster = test_cluster.workload(OwnerKind::Job, "batch", "crunch").pod(crunch);
    let small = node("node-7").cpu("8").memory("8Gi").label("disktype", "ssd");
    let load = pod("node-7-load").on("node-7").cpu("4200m").memory("3Gi").priority(1000);
    test_cluster
        .node(small)
        .pod(load)
        .node(node("node-1").cpu("8").label("disktype", "ssd").cordoned())
        .node(node("node-3").label("disktype", "ssd").taint("dedicated=db:NoSchedule"))
        .pod(pod("node-3-load").on("node-3").cpu("12700m").priority(1000))
        .node(node("node-9").label("disktype", "hdd"))
}

#[test]
fn the_sample_of_the_specification() {
    let pod = web("4", "8Gi").with("/spec/nodeSelector", json!({ "disktype": "ssd" })).scheduler_message(
        "0/8 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated \
         taint(s), 1 node(s) were unschedulable, 5 Insufficient cpu, 1 Insufficient memory. preemption: 0/8 nodes are available: 8 No \
         preemption victims found for incoming pod.",
    );
    insta::assert_snapshot!(explain(&sample(), &pod));
}

/// Five nodes, each with another reason, and two alike.
fn mixed() -> TestCluster {
    let kept = |owner: &str| format!("reserve.cpu/{owner}");
    let kept = node("kept")
        .cpu("4")
        .annotation(&kept(NOBODY), "1")
        .annotation(&kept(&uid("Deployment/shop")), "2500m");
    test_cluster()
        .workload(OwnerKind::Deployment, "shop", "shop")
        .workload(OwnerKind::Deployment, "default", "web")
        .node(kept)
        .node(node("small-1").cpu("1500m"))
        .node(node("small-2").cpu("1"))
        .node(node("closed").cpu("8").cordoned())
        .node(node("tainted").cpu("1").taint("dedicated=db:NoSchedule"))
        .node(node("odd").cpu("lots"))
        .pod(pod("busy").on("small-1").cpu("250m").priority(1000))
}

#[test]
fn every_node_is_counted_once_with_its_numbers() {
    insta::assert_snapshot!(explain(
        &mixed(),
        &web("2", "1Gi").scheduler_message("0/6 nodes are available: ….")
    ));
}

#[test]
fn a_scheduler_that_does_not_enforce_sees_room_where_it_is_kept() {
    insta::assert_snapshot!(explain(&mixed(), &web("2", "1Gi").scheduler("default-scheduler")));
}

#[test]
fn what_is_not_enforced_is_still_shown() {
    insta::assert_snapshot!(explain(&mixed(), &web("5", "1Gi").scheduler("default-scheduler")));
}

#[test]
fn a_pod_that_asks_for_something_not_served_is_told_so() {
    let pod = web("1", "1Gi").with("/spec/resourceClaims", json!([{ "name": "gpu" }]));
    insta::assert_snapshot!(explain(&mixed(), &pod));
}

/// The verdict, what is short and the letters of the fixes have colours, and colours change no word.
#[test]
fn colours_are_for_what_matters() {
    let pod = web("4", "8Gi").with("/spec/nodeSelector", json!({ "disktype": "ssd" }));
    let report = sample().explain(&pod, Options::default());
    let colored = Layout { paint: Paint { has_color: true }, ..Layout::default() };
    let without = |text: &str| {
        let mut parts = text.split("\u{1b}[");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |all, part| all + part.split_once('m').map_or(part, |(_, rest)| rest))
    };
    for show in [screen, render] {
        assert_eq!(without(&show(&report, &colored)), show(&report, &Layout::default()));
    }
    let full = render(&report, &colored);
    for painted in [
        "\u{1b}[31mVERDICT  No node fits.\u{1b}[0m",
        "\u{1b}[31m0.2\u{1b}[0m\n",
        "  \u{1b}[1mA\u{1b}[0m  node-1",
    ] {
        assert!(full.contains(painted), "{painted:?} in {full:?}");
    }
}
