//! Fixes that move pods to other nodes: pods of the same or lower priority, whose budgets allow it and that fit elsewhere. Entry
//! point: [`find`].

use super::describe::{kubectl_in, right};
use crate::explain::input::Input;
use crate::explain::judge::NodeResult;
use crate::explain::report::{Cost, Fix};
use crate::explain::trial::{Edit, Trial};
use common::cluster::{Cluster, Ledger, Snapshot};
use common::framework::{BlockerClass, RefusalCode};
use common::model::{NodeName, Pod};
use std::sync::Arc;

/// The maximum number of pods that are moved together.
const MOVED: usize = 3;

/// The maximum number of pods of a node that are considered.
const CONSIDERED: usize = 12;

/// The smallest set of pods without which the pod fits on the node.
///
/// Each try schedules pods in the whole cluster; `tries` is how many more tries are allowed.
pub(super) fn find(
    cluster: &mut Cluster,
    input: &Input<'_>,
    result: &NodeResult,
    tries: &mut usize,
) -> Option<Fix> {
    let is_about_pods = |class: &BlockerClass| {
        matches!(class, BlockerClass::Room | BlockerClass::Hold | BlockerClass::Placement)
    };
    let is_port = result.blockers.iter().any(|blocker| blocker.kind.code == RefusalCode::PortInUse);
    if !result.classes().iter().all(|class| is_about_pods(class) || (is_port && *class == BlockerClass::Spec))
    {
        return None;
    }
    let movable = movable(cluster, input, result)?;
    for size in 1..=MOVED {
        for set in sets(movable.len(), size) {
            let pods: Vec<&Arc<Pod>> = set.iter().filter_map(|index| movable.get(*index)).collect();
            if !is_enough(result, &pods) || !are_allowed(cluster, input, &pods) {
                continue;
            }
            *tries = tries.checked_sub(1)?;
            if let Some(places) = try_move(cluster, input, &result.name, &pods) {
                return Some(fix(input, result, &pods, &places));
            }
        }
    }
    None
}

/// The pods of the node that may be moved: lowest priority first, then smallest first.
fn movable(cluster: &mut Cluster, input: &Input<'_>, result: &NodeResult) -> Option<Vec<Arc<Pod>>> {
    let snapshot = cluster.snapshot(input.now);
    let ledger: &Ledger = snapshot.ledger(result.id)?;
    let may_move = |pod: &&Arc<Pod>| {
        let context = snapshot.context(pod);
        pod.spec.priority <= input.pod.spec.priority
            && !pod.deleting
            && !pod.is_mirror
            && pod.controller.is_some()
            && !context.is_of_daemon_set()
            && context.top().map(|top| &top.uid) != snapshot.context(input.pod).top().map(|top| &top.uid)
    };
    let mut all: Vec<Arc<Pod>> = ledger.pods.iter().filter(may_move).cloned().collect();
    let lacking: Vec<_> = result.lacking().map(|one| one.resource.clone()).collect();
    let size = |pod: &Pod| {
        let asks = pod.spec.requests.counted();
        lacking.iter().map(|resource| asks.get(resource)).max().unwrap_or(0)
    };
    // A pod that frees nothing of what is short does not help, unless the blocker is a port or a neighbour.
    if !lacking.is_empty() {
        all.retain(|pod| size(pod) > 0);
    }
    all.sort_by_key(|pod| (pod.spec.priority, size(pod), pod.key.clone()));
    let most = all.len().saturating_sub(CONSIDERED);
    // The smallest pods may not be enough: half of those considered are the largest.
    if most > 0 {
        all.drain(CONSIDERED / 2..CONSIDERED / 2 + most);
    }
    Some(all)
}

/// All sets of `size` indices below `count`, in order.
fn sets(count: usize, size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let longer = |set: Vec<usize>| {
        let from = set.last().map_or(0, |last| last + 1);
        (from..count).map(move |next| set.iter().copied().chain([next]).collect::<Vec<_>>())
    };
    sets(count, size - 1).into_iter().flat_map(longer).collect()
}

/// Whether these pods together free enough of every resource that is short.
fn is_enough(result: &NodeResult, pods: &[&Arc<Pod>]) -> bool {
    result.lacking().all(|one| {
        let freed = pods.iter().map(|pod| pod.spec.requests.counted().get(&one.resource));
        freed.fold(0, i64::saturating_add) >= one.short()
    })
}

/// Whether the disruption budgets allow the eviction of all of them.
fn are_allowed(cluster: &mut Cluster, input: &Input<'_>, pods: &[&Arc<Pod>]) -> bool {
    let snapshot: Snapshot<'_> = cluster.snapshot(input.now);
    let budgets = &snapshot.catalog().budgets;
    let is_single = |pod: &&Arc<Pod>| budgets.iter().filter(|budget| budget.protects(pod)).count() <= 1;
    pods.iter().all(is_single)
        && budgets.iter().all(|budget| {
            let asked = pods.iter().filter(|pod| budget.protects(pod)).count();
            i32::try_from(asked).is_ok_and(|asked| asked == 0 || asked <= budget.disruptions_allowed)
        })
}

/// The nodes that `pods` would go to if they were removed and the pod were bound to `node`; `None` if that does not work.
fn try_move(
    cluster: &mut Cluster,
    input: &Input<'_>,
    node: &NodeName,
    pods: &[&Arc<Pod>],
) -> Option<Vec<NodeName>> {
    let mut trial = Trial::new(cluster, input.pod, input.now);
    for pod in pods {
        trial.remove_pod(&pod.key).ok()?;
    }
    if trial.fits_on(input.rules, node) != Ok(true) {
        return None;
    }
    trial.place(node);
    pods.iter().map(|pod| trial.recreate(input.rules, pod)).collect()
}

fn fix(input: &Input<'_>, result: &NodeResult, pods: &[&Arc<Pod>], places: &[NodeName]) -> Fix {
    let describe = |(pod, place): (&&Arc<Pod>, &NodeName)| {
        let first = result.lacking().next();
        let amount = first.map_or_else(String::new, |one| {
            let amount = pod.spec.requests.counted().get(&one.resource);
            format!("{} {}, ", one.resource, one.show(amount))
        });
        format!("{} ({amount}priority {}, budget allows it, fits on {place})", pod.key, pod.spec.priority)
    };
    let all: Vec<String> = pods.iter().zip(places).map(describe).collect();
    let number = if pods.len() == 1 { "1 pod".to_owned() } else { format!("{} pods", pods.len()) };
    let command = |(pod, place): (&&Arc<Pod>, &NodeName)| {
        let mut words = ["reserve", "pod", &*pod.key.name].map(str::to_owned).to_vec();
        // Its new place is reserved first; otherwise it might come back to this node before the Pending pod is scheduled.
        match input.rules.are_enforced(pod) {
            true => words.extend(["--to".to_owned(), place.to_string()]),
            false => words.push("--same-node=off".to_owned()),
        }
        kubectl_in(input, &pod.key.namespace, &words)
    };
    let mut needs: Vec<_> =
        pods.iter().map(|pod| right("create", "pods/eviction", Some(&*pod.key.namespace))).collect();
    if pods.iter().any(|pod| input.rules.are_enforced(pod)) {
        needs.push(right("patch", "nodes", None));
    }
    needs.sort();
    needs.dedup();
    Fix {
        id: String::new(),
        kind: "Move",
        target: format!("pod/{}", pods.first().map(|pod| &*pod.key.name).unwrap_or_default()),
        lands_on: Some(result.name.to_string()),
        description: format!("move {number} away: {}", all.join(", ")),
        disturbs: pods.iter().map(|pod| format!("{} restarts", pod.key)).collect(),
        cost: Cost::Eviction,
        commands: pods.iter().zip(places).map(command).collect(),
        needs,
        allowed: None,
        edits: pods.iter().map(|pod| Edit::RemovePod(pod.key.clone())).collect(),
    }
}
