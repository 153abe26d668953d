//! Reads the workloads that own reservations, and those that own pods on nodes with reservations. They are read one by one; a kind
//! is listed if more than `EACH_MAX` of its workloads are needed, and all kinds are listed for a UID without a name (plain form).

use crate::api::METADATA;
use crate::connect::Session;
use crate::error::Failure;
use crate::reader::{PARALLEL, WorkloadKey, key, owner_chains, workloads};
use common::cluster::{Cluster, Event, WatchEvent};
use common::model::{Origin, Owner, OwnerKind, Pod, Uid, Workload};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use std::collections::BTreeSet;

/// The maximum depth of owners.
const DEPTH_MAX: usize = 4;

/// Reads the workloads into `cluster`. Returns whether the caller may not read some kinds.
pub(super) async fn read(session: &Session, cluster: &mut Cluster) -> Result<bool, Failure> {
    let wanted = claimed_workloads(cluster);
    let is_any_wanted = !wanted.is_empty();
    let chains = owner_chains(session, wanted).await?;
    if is_any_wanted {
        chains.apply(cluster);
    }
    let mut unreadable = chains.unreadable;
    if has_unknown_owner(cluster) {
        read_all_kinds(session, cluster, &mut unreadable).await?;
    }
    Ok(!unreadable.is_empty())
}

/// The top owner of `pod`; the pod itself if it has no controller.
pub(crate) async fn top_of_pod(session: &Session, pod: &Pod) -> Result<Owner, Failure> {
    let wanted = key(pod.controller.as_deref(), &pod.key.namespace);
    let cluster = owner_chains(session, wanted.into_iter().collect()).await?.cluster();
    cluster
        .owner_of(pod)
        .map_err(|why| Failure::new(format!("pod {}: {why}, so nobody knows whom its room is for", pod.key)))
}

/// The top owner of a workload; the workload itself if it has no controller.
pub(crate) async fn top_of(session: &Session, workload: Workload) -> Result<Owner, Failure> {
    let wanted = key(workload.controller.as_ref(), &workload.namespace);
    let cluster = owner_chains(session, wanted.into_iter().collect()).await?.cluster();
    let mut top = &workload;
    for _ in 0..DEPTH_MAX {
        let above = top.controller.as_ref().and_then(|claim| {
            let found = cluster.owners().named(claim.kind?, &top.namespace, &claim.name)?;
            (found.uid == claim.uid).then_some(found)
        });
        let Some(above) = above else { break };
        top = above;
    }
    Ok(top.owner())
}

/// The workloads that reservations name, and the controllers of pods that may use these reservations.
fn claimed_workloads(cluster: &mut Cluster) -> BTreeSet<WorkloadKey> {
    let mut keys = BTreeSet::new();
    let now = cluster.now();
    for ledger in cluster.snapshot(now).reserved() {
        let mut namespaces = BTreeSet::new();
        let mut is_any = false;
        for entry in &ledger.entries {
            match &entry.reservation.origin {
                Origin::Recorded(record) => {
                    let owner = &record.owner;
                    namespaces.insert(owner.namespace.clone());
                    let kind = OwnerKind::ALL.into_iter().find(|kind| kind.as_str() == &*owner.kind);
                    keys.extend(kind.map(|kind| (kind, owner.namespace.to_string(), owner.name.to_string())));
                }
                Origin::Manual | Origin::Newer { .. } => is_any = true,
            }
        }
        for pod in ledger.pods.iter().filter(|pod| is_any || namespaces.contains(&pod.key.namespace)) {
            keys.extend(key(pod.controller.as_deref(), &pod.key.namespace));
        }
    }
    keys
}

/// Whether a reservation without a record has a UID that no object has that was read.
fn has_unknown_owner(cluster: &mut Cluster) -> bool {
    let now = cluster.now();
    let snapshot = cluster.snapshot(now);
    let entries = snapshot.reserved().flat_map(|ledger| &ledger.entries);
    let bare = entries.filter(|entry| entry.reservation.record().is_none());
    let uids: BTreeSet<&Uid> = bare.map(|entry| &entry.reservation.id.owner).collect();
    uids.into_iter().any(|uid| snapshot.owner(uid).is_none())
}

/// Lists all kinds, to find the owner of a plain reservation: it has only a UID, and the API server cannot look up a UID.
async fn read_all_kinds(
    session: &Session,
    cluster: &mut Cluster,
    unreadable: &mut BTreeSet<OwnerKind>,
) -> Result<(), Failure> {
    let kinds = OwnerKind::ALL.into_iter().filter(|kind| !unreadable.contains(kind));
    let read = async |kind: OwnerKind| {
        let found = workloads(session, kind, &kind.path(), METADATA).await;
        let found = found.map_err(|error| error.into_failure("list workloads", "list workloads"));
        found.map(|found| (kind, found))
    };
    let found: Vec<_> = stream::iter(kinds).map(read).buffered(PARALLEL).try_collect().await?;
    for (kind, found) in found {
        match found {
            Some(live) => {
                cluster.apply(Event::Workloads(kind, WatchEvent::Relisted(live)));
            }
            None => {
                unreadable.insert(kind);
                cluster.apply(Event::WorkloadsUnreadable(kind));
            }
        }
    }
    Ok(())
}
