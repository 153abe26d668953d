//! Letting a workload have fewer pods, where it is certain which ones go: the last ones of a StatefulSet, or any if all are on
//! the node.

use super::tell::{kubectl_in, right};
use crate::explain::input::Input;
use crate::explain::judge::View;
use crate::explain::kind::Class;
use crate::explain::report::{Cost, Fix, OwnerName, Right};
use crate::explain::trial::{Edit, Trial};
use crate::explain::words::count;
use common::cluster::{Cluster, Snapshot};
use common::model::owner::{OwnerKind, Workload};
use common::model::{Pod, PodKey, Uid};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// So many pods fewer at most.
const FEWER: usize = 3;

/// So many workloads of a node are considered.
const CONSIDERED: usize = 6;

/// A workload that could do with fewer.
struct Candidate {
    owner: OwnerName,
    kind: OwnerKind,
    wanted: usize,
    /// Who goes, the first to go first.
    going: Vec<PodKey>,
}

/// The workload of the node that has to give up the fewest pods.
pub(super) fn down(cluster: &mut Cluster, input: &Input<'_>, view: &View) -> Option<Fix> {
    if !view.classes().iter().all(|class| matches!(class, Class::Room | Class::Hold)) {
        return None;
    }
    let candidates = candidates(&cluster.snapshot(input.now), input, view);
    for fewer in 1..=FEWER {
        for one in candidates.iter().filter(|one| one.going.len() >= fewer) {
            let going = &one.going[..fewer];
            let mut trial = Trial::new(cluster, input.pod, input.now);
            let helps = going.iter().all(|key| trial.leave(key).is_ok())
                && trial.can_have(input.rules, &view.name) == Ok(true);
            drop(trial);
            if helps {
                return Some(fix(input, view, one, going));
            }
        }
    }
    None
}

fn candidates(snapshot: &Snapshot<'_>, input: &Input<'_>, view: &View) -> Vec<Candidate> {
    let Some(ledger) = snapshot.ledger(view.id) else { return Vec::new() };
    let own = snapshot.pod_context(input.pod).top().map(|top| top.uid.clone());
    let mut tops: BTreeMap<_, &Workload> = BTreeMap::new();
    for pod in ledger.pods.iter().filter(|pod| pod.spec.priority <= input.pod.spec.priority) {
        if let Some(top) = snapshot.pod_context(pod).top().filter(|top| own.as_ref() != Some(&top.uid)) {
            tops.insert(top.uid.clone(), top);
        }
    }
    let tops = tops.into_values().filter(|top| {
        matches!(top.kind, OwnerKind::Deployment | OwnerKind::StatefulSet | OwnerKind::ReplicaSet)
    });
    let mut all: Vec<Candidate> =
        tops.take(CONSIDERED).filter_map(|top| candidate(snapshot, view, top)).collect();
    all.sort_by_key(|one| (one.going.len(), one.owner.name.clone()));
    all
}

/// Who would go first, as far as that is certain.
fn candidate(snapshot: &Snapshot<'_>, view: &View, top: &Workload) -> Option<Candidate> {
    // There are many pods: who controls each is compared, and only of those few the whole chain looked at.
    let mut uids: BTreeSet<&Uid> = snapshot.owners().children(top).map(|child| &child.uid).collect();
    uids.insert(&top.uid);
    let is_claimed = |pod: &Pod| pod.controller.as_ref().is_some_and(|claim| uids.contains(&claim.uid));
    let is_own = |pod: &&Arc<Pod>| is_claimed(pod) && snapshot.pod_context(pod).is_owned_by(&top.uid);
    let bound: Vec<&Arc<Pod>> = snapshot.nodes().flat_map(|ledger| &ledger.pods).filter(is_own).collect();
    // Those that wait would go before any that runs.
    let has_waiting = snapshot.waiting_in(&top.namespace).any(|pod| is_own(&pod));
    let is_here = |pod: &&Arc<Pod>| pod.node.as_ref() == Some(&view.name);
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
    (!going.is_empty()).then_some(Candidate { owner, kind: top.kind, wanted: bound.len(), going })
}

fn ordinal(pod: &Pod) -> Option<u64> {
    pod.key.name.rsplit('-').next()?.parse().ok()
}

fn fix(input: &Input<'_>, view: &View, one: &Candidate, going: &[PodKey]) -> Fix {
    let left = one.wanted - going.len();
    let owner = &one.owner;
    let words = ["scale".to_owned(), owner.reference(), format!("--replicas={left}")];
    let scale = format!("{}/scale", one.kind.plural());
    let ends = if one.kind == OwnerKind::StatefulSet {
        going.iter().map(|key| key.name.to_string()).collect::<Vec<_>>().join(", ")
    } else {
        // They are alike, and its controller chooses.
        format!("{} of its {}", going.len(), count(one.wanted, "pod"))
    };
    Fix {
        id: String::new(),
        kind: "Scale",
        target: owner.reference(),
        lands_on: Some(view.name.to_string()),
        what: format!("scale {}/{} from {} to {left}", owner.kind, owner.name, one.wanted),
        disturbs: vec![format!("ends {ends}")],
        cost: Cost::Scale,
        commands: vec![kubectl_in(input, &owner.namespace, &words)],
        needs: vec![Right { group: "apps", ..right("patch", &scale, Some(&owner.namespace)) }],
        allowed: None,
        edits: going.iter().cloned().map(Edit::Leave).collect(),
    }
}
