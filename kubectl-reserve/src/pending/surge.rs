//! A rollout that waits for itself: the new pod needs room that only the old pods have, and those stay until the new one
//! is ready.

use crate::world::notes::Notes;
use common::cluster::{Ledger, Snapshot};
use common::cycle::{self, Depth};
use common::framework::Registry;
use common::model::Pod;
use common::model::owner::OwnerKind;

/// Old pods that are tried: each is a look at every node.
const TRIES_MAX: usize = 16;

/// What is to be said if `pod`, which no node can have, is the new pod of a rollout that waits for itself: in which
/// words, and the command that lets an old pod go first. Tried: without that old pod the new one fits.
pub(crate) fn deadlock(
    pod: &Pod,
    snapshot: &Snapshot<'_>,
    notes: &Notes,
    registry: &Registry,
) -> Option<(String, Vec<String>)> {
    let chain = snapshot.owners().chain(pod);
    let [set, top, ..] = chain[..] else { return None };
    let surge = notes.surging.get(&top.uid).filter(|_| top.kind == OwnerKind::Deployment)?;
    let is_old = |other: &Pod| {
        let of = snapshot.owners().chain(other);
        of.get(1).is_some_and(|owner| owner.uid == top.uid)
            && of.first().is_some_and(|one| one.uid != set.uid)
    };
    let pod_context = snapshot.pod_context(pod);
    let fits_without = |ledger: &Ledger, old: &Pod| {
        let mut without = ledger.clone();
        without.remove(&old.uid);
        let trace = cycle::judge(&pod_context, &snapshot.suppose(without), registry, Depth::First);
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
        surge.replicas
    );
    let patch = r#"{"spec":{"strategy":{"rollingUpdate":{"maxUnavailable":1,"maxSurge":0}}}}"#;
    let command = ["kubectl", "patch", "deployment", name, "-n", namespace, "-p", patch];
    Some((words, command.map(str::to_owned).into()))
}
