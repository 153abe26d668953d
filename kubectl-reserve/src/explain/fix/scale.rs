//! Fixes that scale a workload down, where it is certain which pods go: the last ones of a StatefulSet, or any if all pods of the
//! workload are on the node. Entry point: [`find`].

use super::describe::{kubectl_in, right};
use crate::explain::input::Input;
use crate::explain::judge::NodeResult;
use crate::explain::report::{Cost, Fix, OwnerName, RequiredRight};
use crate::explain::trial::{Edit, Trial};
use crate::explain::words::count;
use common::cluster::{Cluster, Snapshot};
use common::framework::BlockerClass;
use common::model::owner::{OwnerKind, Workload};
use common::model::{Pod, PodKey, Uid};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The maximum number of pods by which a workload is scaled down.
const FEWER: usize = 3;

/// The maximum number of workloads of a node that are considered.
const CONSIDERED: usize = 6;

/// A workload that could be scaled down.
struct Candidate {
    owner: OwnerName,
    kind: OwnerKind,
    replicas: usize,
    /// The pods that would be removed, in order.
    going: Vec<PodKey>,
}

/// The fix that removes the fewest pods.
pub(super) fn find(cluster: &mut Cluster, input: &Input<'_>, result: &NodeResult) -> Option<Fix> {
    if !result.classes().iter().all(|class| matches!(class, BlockerClass::Room | BlockerClass::Hold)) {
        return None;
    }
    let candidates = candidates(&cluster.snapshot(input.now), input, result);
    for fewer in 1..=FEWER {
        for one in candidates.iter().filter(|one| one.going.len() >= fewer) {
            let going = &one.going[..fewer];
            let mut trial = Trial::new(cluster, input.pod, input.now);
            let helps = going.iter().all(|key| trial.remove_pod(key).is_ok())
                && trial.fits_on(input.rules, &result.name) == Ok(true);
            drop(trial);
            if helps {
                return Some(fix(input, result, one, going));
            }
        }
    }
    None
}

fn candidates(snapshot: &Snapshot<'_>, input: &Input<'_>, result: &NodeResult) -> Vec<Candidate> {
    let Some(ledger) = snapshot.ledger(result.id) else { return Vec::new() };
    let own = snapshot.context(input.pod).top().map(|top| top.uid.clone());
    let mut tops: BTreeMap<_, &Workload> = BTreeMap::new();
    for pod in ledger.pods.iter().filter(|pod| pod.spec.priority <= input.pod.spec.priority) {
        if let Some(top) = snapshot.context(pod).top().filter(|top| own.as_ref() != Some(&top.uid)) {
            tops.insert(top.uid.clone(), top);
        }
    }
    let tops = tops.into_values().filter(|top| {
        matches!(top.kind, OwnerKind::Deployment | OwnerKind::StatefulSet | OwnerKind::ReplicaSet)
    });
    let mut all: Vec<Candidate> =
        tops.take(CONSIDERED).filter_map(|top| candidate(snapshot, result, top)).collect();
    all.sort_by_key(|one| (one.going.len(), one.owner.name.clone()));
    all
}

/// The workload with the pods that would be removed; `None` if that is not certain.
fn candidate(snapshot: &Snapshot<'_>, result: &NodeResult, top: &Workload) -> Option<Candidate> {
    let bound = bound(snapshot, top);
    // Pending pods would be removed before any that runs.
    let has_waiting =
        snapshot.waiting_in(&top.namespace).any(|pod| snapshot.context(pod).is_owned_by(&top.uid));
    let is_here = |pod: &&Arc<Pod>| pod.node.as_ref() == Some(&result.name);
    if has_waiting || bound.iter().any(|pod| pod.deleting) {
        return None;
    }
    let going: Vec<PodKey> = if top.kind == OwnerKind::StatefulSet {
        let mut by_number: Vec<(u64, &Arc<Pod>)> =
            bound.iter().map(|pod| Some((ordinal(pod)?, *pod))).collect::<Option<_>>()?;
        by_number.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
        by_number
            .iter()
            .map(|(_, pod)| *pod)
            .take_while(|pod| is_here(pod))
            .map(|pod| pod.key.clone())
            .collect()
    } else if bound.iter().all(is_here) {
        bound.iter().map(|pod| pod.key.clone()).collect()
    } else {
        Vec::new()
    };
    let owner = OwnerName::new(&top.owner());
    (!going.is_empty()).then_some(Candidate { owner, kind: top.kind, replicas: bound.len(), going })
}

/// How many pods of the pod's workload are on nodes.
pub(super) fn running(snapshot: &Snapshot<'_>, pod: &Pod) -> usize {
    let context = snapshot.context(pod);
    context.top().map_or(0, |top| bound(snapshot, top).len())
}

/// The pods of a workload that are on nodes.
fn bound<'s>(snapshot: &'s Snapshot<'_>, top: &Workload) -> Vec<&'s Arc<Pod>> {
    // There are many pods: a cheap comparison of the controller comes before a look at the chain of owners.
    let mut uids: BTreeSet<&Uid> = snapshot.owners().children(top).map(|child| &child.uid).collect();
    uids.insert(&top.uid);
    let is_claimed = |pod: &Pod| pod.controller.as_ref().is_some_and(|claim| uids.contains(&claim.uid));
    let is_own = |pod: &&Arc<Pod>| is_claimed(pod) && snapshot.context(pod).is_owned_by(&top.uid);
    snapshot.nodes().flat_map(|ledger| &ledger.pods).filter(is_own).collect()
}

fn ordinal(pod: &Pod) -> Option<u64> {
    pod.key.name.rsplit('-').next()?.parse().ok()
}

fn fix(input: &Input<'_>, result: &NodeResult, one: &Candidate, going: &[PodKey]) -> Fix {
    let left = one.replicas - going.len();
    let owner = &one.owner;
    let words = ["scale".to_owned(), owner.reference(), format!("--replicas={left}")];
    let scale = format!("{}/scale", one.kind.plural());
    let ends = if one.kind == OwnerKind::StatefulSet {
        going.iter().map(|key| key.name.to_string()).collect::<Vec<_>>().join(", ")
    } else {
        // The controller chooses which of them.
        format!("{} of its {}", going.len(), count(one.replicas, "pod"))
    };
    Fix {
        id: String::new(),
        kind: "Scale",
        target: owner.reference(),
        lands_on: Some(result.name.to_string()),
        description: format!("scale {}/{} from {} to {left}", owner.kind, owner.name, one.replicas),
        disturbs: vec![format!("ends {ends}")],
        cost: Cost::Scale,
        commands: vec![kubectl_in(input, &owner.namespace, &words)],
        needs: vec![RequiredRight { group: "apps", ..right("patch", &scale, Some(&owner.namespace)) }],
        allowed: None,
        edits: going.iter().cloned().map(Edit::RemovePod).collect(),
    }
}
