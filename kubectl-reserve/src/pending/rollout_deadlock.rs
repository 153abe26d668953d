//! A rollout that waits for itself: the new pod needs room that the old pods use, and the old pods stay until the new one is
//! ready.

use crate::cluster_data::diagnostics::Diagnostics;
use common::cluster::{Ledger, Snapshot};
use common::cycle::{self, Depth};
use common::framework::Registry;
use common::model::{OwnerKind, Pod};

/// The maximum number of old pods that are tried: each try filters every node.
const TRIES_MAX: usize = 16;

/// If `pod`, which fits on no node, is the new pod of a rollout that waits for itself: a sentence about it, and the command that
/// lets an old pod go first. It was simulated that the new pod fits without that old pod.
pub(crate) fn rollout_deadlock(
    pod: &Pod,
    snapshot: &Snapshot<'_>,
    diagnostics: &Diagnostics,
    registry: &Registry,
) -> Option<(String, Vec<String>)> {
    let chain = snapshot.owners().chain(pod);
    let [set, top, ..] = chain[..] else { return None };
    let rollout =
        diagnostics.surge_only_rollouts.get(&top.uid).filter(|_| top.kind == OwnerKind::Deployment)?;
    let is_old = |other: &Pod| {
        let of = snapshot.owners().chain(other);
        of.get(1).is_some_and(|owner| owner.uid == top.uid)
            && of.first().is_some_and(|one| one.uid != set.uid)
    };
    let context = snapshot.context(pod);
    let fits_without = |ledger: &Ledger, old: &Pod| {
        let mut without = ledger.clone();
        without.remove(&old.uid);
        let trace = cycle::diagnose(&context, &snapshot.suppose(without), registry, Depth::First);
        trace.is_ok_and(|trace| trace.feasible().any(|id| id == ledger.id))
    };
    let mut old = 0;
    let mut freed = None;
    for ledger in snapshot.nodes() {
        for other in ledger.pods.iter().filter(|other| is_old(other)) {
            old += 1;
            if freed.is_none() && old <= TRIES_MAX && fits_without(ledger, other) {
                freed = Some(ledger.node.name.clone());
            }
        }
    }
    let node = freed?;
    let (name, namespace) = (&top.name, &top.namespace);
    let pods = if old == 1 { "1 old pod stays".into() } else { format!("{old} old pods stay") };
    let words = format!(
        "The rollout of Deployment {name} waits for itself: maxUnavailable is 0 of {}, so {pods} until this one is \
         ready, and without one of them it would fit on {node}.",
        rollout.replicas
    );
    let patch = r#"{"spec":{"strategy":{"rollingUpdate":{"maxUnavailable":1,"maxSurge":0}}}}"#;
    let command = ["kubectl", "patch", "deployment", name, "-n", namespace, "-p", patch];
    Some((words, command.map(str::to_owned).into()))
}
