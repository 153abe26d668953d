//! Whether other pods could be made to go for this one: who, where, and what priority it would take.

use super::input::Input;
use super::judge::{Sight, View};
use super::report::{Preemption, WithPriority};
use super::words::count;
use common::cluster::{Cluster, Ledger, NodeId, Snapshot};
use common::cycle::Inspection;
use common::framework::{PostFiltered, Victims};
use common::model::{Pod, Resources};
use std::collections::BTreeSet;
use std::sync::Arc;

/// So many nodes are tried, as many as kube-scheduler itself does at least.
const TRIED: usize = 100;

/// So many are tried for each priority that the pod could have instead.
const TRIED_FOR_MORE: usize = 20;

/// So many priorities are tried.
const PRIORITIES: usize = 12;

/// What preemption comes to for a pod that no node can have.
pub(super) fn look(
    cluster: &mut Cluster,
    input: &Input<'_>,
    sight: &Sight,
    order: &[usize],
) -> Option<Preemption> {
    if !input.options.preemption
        || !sight.refused.is_empty()
        || sight.awaits.is_some()
        || order.len() != sight.views.len()
        || order.is_empty()
    {
        return None;
    }
    let views: Vec<&View> = order.iter().filter_map(|index| sight.views.get(*index)).collect();
    let snapshot = cluster.snapshot(input.now);
    let pod = input.pod;
    if !pod.spec.preempts {
        let because = "the pod's preemptionPolicy is Never".to_owned();
        return Some(Preemption::Impossible { reason: "PolicyNever", because, with: None });
    }
    let nodes = worth(&snapshot, pod, &views, TRIED);
    if let Some(best) = ask(&snapshot, input, pod, &nodes).and_then(|help| help.nominated) {
        let (victims, violations) = (names(&best), best.violations);
        return Some(Preemption::Possible { node: best.node.to_string(), victims, violations });
    }
    let (reason, because) = why_not(&snapshot, pod, &views);
    let with = with_more(&snapshot, input, &views);
    Some(Preemption::Impossible { reason, because, with })
}

fn names(victims: &Victims) -> Vec<String> {
    victims.pods.iter().map(|pod| pod.key.to_string()).collect()
}

fn ask(snapshot: &Snapshot<'_>, input: &Input<'_>, pod: &Pod, nodes: &[NodeId]) -> Option<PostFiltered> {
    if nodes.is_empty() {
        return None;
    }
    let pod_context = snapshot.pod_context(pod);
    Inspection::new(&pod_context, snapshot, input.rules.of(pod)).ok()?.help_on(nodes).ok()
}

/// The nodes that could have the pod if all that are less important left, as far as a sum can tell; the nearest first.
fn worth(snapshot: &Snapshot<'_>, pod: &Pod, views: &[&View], most: usize) -> Vec<NodeId> {
    let asks = &pod.spec.requests.incoming;
    let is_worth = |ledger: &&Ledger| {
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
    let resolvable =
        views.iter().filter(|view| !view.blockers.iter().any(|seen| seen.rejection.reason.is_unresolvable()));
    let ledgers = resolvable.filter_map(|view| snapshot.ledger(view.id));
    ledgers.filter(is_worth).map(|ledger| ledger.id).take(most).collect()
}

fn why_not(snapshot: &Snapshot<'_>, pod: &Pod, views: &[&View]) -> (&'static str, String) {
    let priority = pod.spec.priority;
    let has_lower =
        |view: &&&View| snapshot.ledger(view.id).is_some_and(|ledger| ledger.lowest_priority < priority);
    let lower = views.iter().filter(has_lower).count();
    if lower == 0 {
        return ("NoLowerPriorityPods", format!("no pod has a lower priority than {priority}"));
    }
    let on = count(lower, "node");
    (
        "NotEnough",
        format!("{on} have pods of a lower priority than {priority}, but their leaving is not enough"),
    )
}

/// What the names of the system's own classes start with: they are for nobody else.
const SYSTEM: &str = "system-";

/// The lowest priority with which preemption would work.
fn with_more(snapshot: &Snapshot<'_>, input: &Input<'_>, views: &[&View]) -> Option<WithPriority> {
    let pod = input.pod;
    let near = views.iter().take(TRIED).filter_map(|view| snapshot.ledger(view.id));
    let others = near.flat_map(|ledger| &ledger.pods).map(|other| other.spec.priority);
    // The system's own priorities are not for others to have.
    let higher: BTreeSet<i32> = others
        .filter_map(|priority| priority.checked_add(1))
        .filter(|one| *one > pod.spec.priority && *one <= 1_000_000_000)
        .collect();
    for priority in higher.into_iter().take(PRIORITIES) {
        let mut spec = (*pod.spec).clone();
        spec.priority = priority;
        let raised = Pod { spec: Arc::new(spec), ..pod.clone() };
        let nodes = worth(snapshot, &raised, views, TRIED_FOR_MORE);
        if let Some(best) = ask(snapshot, input, &raised, &nodes).and_then(|help| help.nominated) {
            let classes = input
                .priority_classes
                .iter()
                .filter(|(name, value)| *value >= priority && !name.starts_with(SYSTEM));
            let class =
                classes.min_by_key(|(name, value)| (*value, name.clone())).map(|(name, _)| name.clone());
            return Some(WithPriority {
                priority,
                class,
                node: best.node.to_string(),
                victims: names(&best),
            });
        }
    }
    None
}
