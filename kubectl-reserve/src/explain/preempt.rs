//! Whether preemption would help: on which node, with which victims, and with which priority. Entry point: [`find`].

use super::input::Input;
use super::judge::{FilterResults, NodeResult};
use super::report::{HigherPriority, Preemption};
use super::words::count;
use common::cluster::{Cluster, Ledger, NodeId, Snapshot};
use common::cycle::Inspection;
use common::framework::{NodeVictims, PostFilterResult};
use common::model::{Pod, Resources};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The number of nodes that are tried; kube-scheduler tries at least as many.
const TRIED: usize = 100;

/// The number of nodes that are tried for each higher priority.
const TRIED_FOR_MORE: usize = 20;

/// The number of higher priorities that are tried.
const PRIORITIES: usize = 12;

/// The result of preemption for a pod that fits on no node. `None` if it is switched off or not needed.
pub(super) fn find(
    cluster: &mut Cluster,
    input: &Input<'_>,
    filter_results: &FilterResults,
    order: &[usize],
) -> Option<Preemption> {
    if !input.options.preemption
        || !filter_results.refused.is_empty()
        || filter_results.awaited_node.is_some()
        || order.len() != filter_results.nodes.len()
        || order.is_empty()
    {
        return None;
    }
    let results: Vec<&NodeResult> =
        order.iter().filter_map(|index| filter_results.nodes.get(*index)).collect();
    let snapshot = cluster.snapshot(input.now);
    let pod = input.pod;
    if !pod.spec.preempts {
        let because = "the pod's preemptionPolicy is Never".to_owned();
        return Some(Preemption::Impossible { reason: "PolicyNever", because, with: None });
    }
    let nodes = candidates(&snapshot, pod, &results, TRIED);
    if let Some(best) = ask(&snapshot, input, pod, &nodes).and_then(|help| help.nominated) {
        let (victims, violations) = (names(&best), best.violations);
        return Some(Preemption::Possible { node: best.node.to_string(), victims, violations });
    }
    let (reason, because) = why_not(&snapshot, pod, &results);
    let with = with_higher_priority(&snapshot, input, &results);
    Some(Preemption::Impossible { reason, because, with })
}

fn names(victims: &NodeVictims) -> Vec<String> {
    victims.pods.iter().map(|pod| pod.key.to_string()).collect()
}

fn ask(snapshot: &Snapshot<'_>, input: &Input<'_>, pod: &Pod, nodes: &[NodeId]) -> Option<PostFilterResult> {
    if nodes.is_empty() {
        return None;
    }
    let context = snapshot.context(pod);
    Inspection::new(&context, snapshot, input.rules.of(pod)).ok()?.post_filter_on(nodes).ok()
}

/// The nodes that would have enough allocatable room without all pods of lower priority; the nearest first.
fn candidates(snapshot: &Snapshot<'_>, pod: &Pod, results: &[&NodeResult], most: usize) -> Vec<NodeId> {
    let asks = &pod.spec.requests.incoming;
    let is_candidate = |ledger: &&Ledger| {
        ledger.lowest_priority < pod.spec.priority && {
            let mut staying = Resources::default();
            for other in ledger.pods.iter().filter(|other| other.spec.priority >= pod.spec.priority) {
                staying.add_assign(other.spec.requests.counted());
            }
            let has = &ledger.node.allocatable;
            asks.iter()
                .all(|(resource, asks)| asks <= has.get(&resource).saturating_sub(staying.get(&resource)))
        }
    };
    let resolvable = results
        .iter()
        .filter(|result| !result.blockers.iter().any(|blocker| blocker.rejection.reason.is_unresolvable()));
    let ledgers = resolvable.filter_map(|result| snapshot.ledger(result.id));
    ledgers.filter(is_candidate).map(|ledger| ledger.id).take(most).collect()
}

fn why_not(snapshot: &Snapshot<'_>, pod: &Pod, results: &[&NodeResult]) -> (&'static str, String) {
    let priority = pod.spec.priority;
    let has_lower = |result: &&&NodeResult| {
        snapshot.ledger(result.id).is_some_and(|ledger| ledger.lowest_priority < priority)
    };
    let lower = results.iter().filter(has_lower).count();
    if lower == 0 {
        return ("NoLowerPriorityPods", format!("no pod has a lower priority than {priority}"));
    }
    let on = count(lower, "node");
    (
        "NotEnough",
        format!("{on} have pods of a lower priority than {priority}, but their leaving is not enough"),
    )
}

/// The prefix of the system's own priority classes, which other pods must not use.
const SYSTEM: &str = "system-";

/// The lowest priority with which preemption would work.
fn with_higher_priority(
    snapshot: &Snapshot<'_>,
    input: &Input<'_>,
    results: &[&NodeResult],
) -> Option<HigherPriority> {
    let pod = input.pod;
    let near = results.iter().take(TRIED).filter_map(|result| snapshot.ledger(result.id));
    let others = near.flat_map(|ledger| &ledger.pods).map(|other| other.spec.priority);
    // Priorities above 1,000,000,000 are the system's own.
    let higher: BTreeSet<i32> = others
        .filter_map(|priority| priority.checked_add(1))
        .filter(|one| *one > pod.spec.priority && *one <= 1_000_000_000)
        .collect();
    for priority in higher.into_iter().take(PRIORITIES) {
        let mut spec = (*pod.spec).clone();
        spec.priority = priority;
        let raised = Pod { spec: Arc::new(spec), ..pod.clone() };
        let nodes = candidates(snapshot, &raised, results, TRIED_FOR_MORE);
        if let Some(best) = ask(snapshot, input, &raised, &nodes).and_then(|help| help.nominated) {
            let classes = input
                .priority_classes
                .iter()
                .filter(|(name, value)| *value >= priority && !name.starts_with(SYSTEM));
            let class =
                classes.min_by_key(|(name, value)| (*value, name.clone())).map(|(name, _)| name.clone());
            return Some(HigherPriority {
                priority,
                class,
                node: best.node.to_string(),
                victims: names(&best),
            });
        }
    }
    None
}
