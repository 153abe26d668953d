//! Reads the workloads that own reservations, and those that own pods on nodes with reservations. They are read one by one; a kind
//! is listed if more than `EACH_MAX` of its workloads are needed, and all kinds are listed for a UID without a name (plain form).

use super::read::PARALLEL;
use crate::api::{self as calls, JSON, METADATA};
use crate::connect::{Session, is_name};
use crate::error::Failure;
use common::api;
use common::cluster::{Cluster, Event, WatchEvent};
use common::model::chain::chain;
use common::model::owner::{ControllerRef, Owner, OwnerKind, Workload};
use common::model::reservation::Origin;
use common::model::{Pod, Uid};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use std::collections::{BTreeMap, BTreeSet};

/// If more workloads of one kind are needed, the whole kind is listed.
const EACH_MAX: usize = 200;

/// The maximum depth of owners. Real chains are shorter: Pod, Job, CronJob.
const DEPTH_MAX: usize = 4;

/// Kind, namespace, name.
type WorkloadKey = (OwnerKind, String, String);

/// Reads the workloads into `cluster`. Returns whether the caller may not read some kinds.
pub(super) async fn read(session: &Session, cluster: &mut Cluster) -> Result<bool, Failure> {
    let wanted = claimed_workloads(cluster);
    let mut unreadable = read_with_owners(session, cluster, wanted).await?;
    if has_unknown_owner(cluster) {
        read_all_kinds(session, cluster, &mut unreadable).await?;
    }
    Ok(!unreadable.is_empty())
}

/// The top owner of `pod`; the pod itself if it has no controller.
pub(crate) async fn top_of_pod(session: &Session, pod: &Pod) -> Result<Owner, Failure> {
    let mut cluster = Cluster::default();
    let claim = pod.controller.as_ref();
    let key =
        claim.and_then(|claim| Some((claim.kind?, pod.key.namespace.to_string(), claim.name.to_string())));
    read_with_owners(session, &mut cluster, key.into_iter().collect()).await?;
    cluster
        .owner_of(pod)
        .map_err(|why| Failure::new(format!("pod {}: {why}, so nobody knows whom its room is for", pod.key)))
}

/// The top owner of a workload; the workload itself if it has no controller.
pub(crate) async fn top_of(session: &Session, workload: Workload) -> Result<Owner, Failure> {
    let mut cluster = Cluster::default();
    let wanted = workload.controller.as_ref().and_then(|claim| key(claim, &workload));
    read_with_owners(session, &mut cluster, wanted.into_iter().collect()).await?;
    let now = cluster.now();
    let snapshot = cluster.snapshot(now);
    let mut top = &workload;
    for _ in 0..DEPTH_MAX {
        let above = top.controller.as_ref().and_then(|claim| {
            let found = snapshot.owners().named(claim.kind?, &top.namespace, &claim.name)?;
            (found.uid == claim.uid).then_some(found)
        });
        let Some(above) = above else { break };
        top = above;
    }
    Ok(top.owner())
}

/// Reads these workloads and all of their owners. Returns the kinds that the caller may not read.
async fn read_with_owners(
    session: &Session,
    cluster: &mut Cluster,
    mut wanted: BTreeSet<WorkloadKey>,
) -> Result<BTreeSet<OwnerKind>, Failure> {
    let mut known: BTreeSet<WorkloadKey> = BTreeSet::new();
    let mut unreadable: BTreeSet<OwnerKind> = BTreeSet::new();
    let mut found: BTreeMap<OwnerKind, Vec<Workload>> = BTreeMap::new();
    for _ in 0..DEPTH_MAX {
        wanted.retain(|key| !known.contains(key) && !unreadable.contains(&key.0) && is_name(&key.2));
        if wanted.is_empty() {
            break;
        }
        let mut above = BTreeSet::new();
        for kind in OwnerKind::ALL {
            let keys: Vec<&WorkloadKey> = wanted.iter().filter(|key| key.0 == kind).collect();
            let Some(workloads) = read_some(session, kind, &keys).await? else {
                unreadable.insert(kind);
                continue;
            };
            let claims = workloads.iter().filter_map(|workload| key(workload.controller.as_ref()?, workload));
            above.extend(claims);
            found.entry(kind).or_default().extend(workloads);
        }
        known.append(&mut wanted);
        wanted = above;
    }
    // All at the end: each change of workloads makes the cluster compute the owners of all pods again.
    for (kind, workloads) in found {
        cluster.apply(Event::Workloads(kind, WatchEvent::Relisted(workloads)));
    }
    for kind in &unreadable {
        cluster.apply(Event::WorkloadsUnreadable(*kind));
    }
    Ok(unreadable)
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
            let claim = pod.controller.as_ref();
            keys.extend(claim.and_then(|claim| {
                Some((claim.kind?, pod.key.namespace.to_string(), claim.name.to_string()))
            }));
        }
    }
    keys
}

fn key(claim: &ControllerRef, of: &Workload) -> Option<WorkloadKey> {
    Some((claim.kind?, of.namespace.to_string(), claim.name.to_string()))
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

/// Reads these workloads of one kind; `None` if the caller may not. Workloads that are gone are left out.
async fn read_some(
    session: &Session,
    kind: OwnerKind,
    keys: &[&WorkloadKey],
) -> Result<Option<Vec<Workload>>, Failure> {
    if keys.len() > EACH_MAX {
        return read_all(session, kind).await;
    }
    let read = async |(_, namespace, name): &&WorkloadKey| {
        let path = format!("{}/{name}", kind.path_in(namespace));
        match calls::get(session, &path, JSON).await {
            Ok(answer) => {
                let workload = api::workload::workload(kind, &answer.text);
                workload.map(|workload| Some(Some(workload))).map_err(|error| Failure::new(chain(&error)))
            }
            Err(error) if error.code() == Some(404) => Ok(Some(None)),
            Err(error) if error.code() == Some(403) => Ok(None),
            Err(error) => {
                Err(error.into_failure("read the owner", &format!("get {} (all namespaces)", kind.plural())))
            }
        }
    };
    let found = stream::iter(keys).map(read).buffered(PARALLEL).try_collect::<Vec<_>>().await?;
    let is_refused = found.iter().any(Option::is_none);
    Ok((!is_refused).then(|| found.into_iter().flatten().flatten().collect()))
}

/// Lists all workloads of one kind; `None` if the caller may not.
async fn read_all(session: &Session, kind: OwnerKind) -> Result<Option<Vec<Workload>>, Failure> {
    let mut live = Vec::new();
    let each = |json: &str| {
        live.push(api::workload::workload(kind, json).map_err(|error| chain(&error))?);
        Ok(())
    };
    match calls::list(session, &kind.path(), "", METADATA, each).await {
        Ok(_) => Ok(Some(live)),
        Err(error) if error.code() == Some(403) => Ok(None),
        // An API group that this cluster does not serve has no objects.
        Err(error) if error.code() == Some(404) => Ok(Some(Vec::new())),
        Err(error) => {
            Err(error.into_failure("list workloads", &format!("list {} (all namespaces)", kind.plural())))
        }
    }
}

/// Lists all kinds, to find the owner of a plain reservation: it has only a UID, and the API server cannot look up a UID.
async fn read_all_kinds(
    session: &Session,
    cluster: &mut Cluster,
    unreadable: &mut BTreeSet<OwnerKind>,
) -> Result<(), Failure> {
    let kinds = OwnerKind::ALL.into_iter().filter(|kind| !unreadable.contains(kind));
    let read = async |kind| read_all(session, kind).await.map(|found| (kind, found));
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
