//! Messages of preemption, and pods that may not preempt.

use super::*;

const FULL: &str = "0/1 nodes are available: 1 Insufficient cpu.";

fn message(test_cluster: ClusterBuilder, pod: &PodBuilder) -> String {
    no_fit(test_cluster, pod).message()
}

fn full() -> ClusterBuilder {
    cluster_builder().node(node("n1")).pod(on("a", "n1", 0, "4"))
}

#[test]
fn what_was_found_is_said_with_the_node_and_how_many() {
    let test_cluster =
        cluster_builder().node(node("n1")).pod(on("a", "n1", 0, "2")).pod(on("b", "n1", 0, "2"));
    assert_eq!(
        message(test_cluster, &preemptor("4")),
        format!("{FULL} preemption: found a potential placement for pod on node n1, preempting 2 victims")
    );
}

#[test]
fn what_was_not_found_is_counted_by_node() {
    let test_cluster = cluster_builder()
        .node(node("a").cordoned())
        .node(node("b").cordoned())
        .node(node("c"))
        .node(node("d"))
        .pod(on("x", "c", 10, "4"))
        .pod(on("y", "d", 10, "3"))
        .pod(on("z", "d", 9, "1"));
    let no_fit = no_fit(test_cluster, &preemptor("2"));
    assert_eq!(
        no_fit.message(),
        "0/4 nodes are available: 2 Insufficient cpu, 2 node(s) were unschedulable. preemption: 0/4 nodes are \
         available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod, 2 Preemption is not helpful \
         for scheduling."
    );
    assert!(no_fit.post_filter.clears_nomination && no_fit.post_filter.nominated.is_none());
    assert_eq!(
        message(full(), &pod("p").cpu("1")),
        format!(
            "{FULL} preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
        )
    );
    assert_eq!(
        message(full(), &preemptor("5")),
        format!("{FULL} preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.")
    );
    assert_eq!(message(cluster_builder(), &preemptor("5")), "no nodes available to schedule pods");
}

#[test]
fn whoever_never_preempts_says_so() {
    let meek = preemptor("1").with("/spec/preemptionPolicy", json!("Never"));
    let no_fit = no_fit(full(), &meek);
    assert_eq!(no_fit.message(), format!("{FULL} preemption: not eligible due to preemptionPolicy=Never."));
    assert!(no_fit.post_filter.candidates.is_empty() && !no_fit.post_filter.clears_nomination);
}

#[test]
fn whoever_waits_for_victims_to_leave_makes_no_more() {
    let victim = |priority: i32, reason: &str, status: &str| {
        let condition = json!({ "type": "DisruptionTarget", "status": status, "reason": reason });
        on("v", "n1", priority, "2").with("/status/conditions", json!([condition]))
    };
    let test_cluster = |victim: PodBuilder| {
        cluster_builder().node(node("n1")).node(node("n2").cordoned()).pod(victim).pod(on("a", "n1", 0, "2"))
    };
    let waits = preemptor("4").with("/status/nominatedNodeName", json!("n1"));
    let ineligible = "not eligible due to a terminating pod on the nominated node.";
    let by_us = || victim(0, "PreemptionByScheduler", "True");
    let table = [
        (by_us().terminating(), waits.clone(), true),
        (by_us(), waits.clone(), false),
        (victim(0, "PreemptionByScheduler", "False").terminating(), waits.clone(), false),
        (victim(0, "EvictionByEvictionAPI", "True").terminating(), waits.clone(), false),
        (victim(10, "PreemptionByScheduler", "True").terminating(), waits.clone(), false),
        (by_us().terminating(), preemptor("4"), false),
        (by_us().terminating(), waits.clone().with("/status/nominatedNodeName", json!("n2")), false),
        (by_us().terminating(), waits.clone().with("/status/nominatedNodeName", json!("n9")), false),
        // The node has become too small: there is nothing to wait for.
        (by_us().terminating(), waits.cpu("5"), false),
    ];
    for (index, (victim, pod, expected)) in table.into_iter().enumerate() {
        let message = message(test_cluster(victim), &pod);
        assert_eq!(message.ends_with(&format!(" preemption: {ineligible}")), expected, "{index}: {message}");
    }
}

/// A filter that fails on nodes without pods.
struct Dizzy;

impl Plugin for Dizzy {
    fn name(&self) -> &'static str {
        "Dizzy"
    }
}

impl Filter for Dizzy {
    fn prepare<'c>(
        &'c self,
        _context: &'c crate::cluster::PodContext<'c>,
        world: &'c crate::cluster::Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        ledger_filter(world, |ledger| match ledger.pods.len() {
            0 => Verdict::Fails(format!("{} is empty", ledger.node.name).into()),
            1 => Verdict::rejects("Dizzy", Reason::message("one")),
            _ => Verdict::Fits,
        })
    }
}

#[test]
fn an_error_is_told_unless_another_node_will_do() {
    let registry = without_reservations().filter(Dizzy);
    let test_cluster = |cpu: &str| cluster_builder().node(node("n1").cpu(cpu)).pod(on("a", "n1", 0, "1"));
    let said = |test_cluster: ClusterBuilder| no_fit_with(test_cluster, &preemptor("2"), &registry).message();
    let error = |node: &str| format!("running \"Dizzy\" filter plugin: {node} is empty");
    let one = "0/1 nodes are available: 1 one.";
    assert_eq!(said(test_cluster("4")), format!("{one} preemption: {}", error("n1")));
    let two = test_cluster("4").node(node("n2")).pod(on("b", "n2", 0, "1"));
    let expected = format!("0/2 nodes are available: 2 one. preemption: [{}, {}]", error("n1"), error("n2"));
    assert_eq!(said(two), expected);
    let equals = |world: ClusterBuilder, name: &str| world.pod(on(name, "n2", 10, "500m"));
    let another = ["c", "d"].into_iter().fold(test_cluster("4").node(node("n2").cpu("3")), equals);
    assert_eq!(
        said(another.pod(on("b", "n2", 0, "2"))),
        "0/2 nodes are available: 1 Insufficient cpu, 1 one. preemption: found a potential placement for pod on node n2, \
         preempting 1 victims"
    );
}
