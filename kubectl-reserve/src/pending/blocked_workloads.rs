//! Workloads that cannot create their pods, because a quota or an admission rule refuses. Entry point: [`blocked_workloads`].

use crate::cluster_data::diagnostics::Diagnostics;
use crate::cluster_data::events::EventSummary;
use crate::render::printable;
use common::cluster::Cluster;
use common::model::{OwnerKind, Text, Uid, Workload};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

/// A refusal that was not repeated for this long is over: controllers try again within minutes.
const STALE: SignedDuration = SignedDuration::from_mins(30);

/// A workload that cannot create its pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockedWorkload {
    pub(crate) kind: OwnerKind,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// The controller of the workload, such as the Deployment of a ReplicaSet.
    pub(crate) top: Option<(OwnerKind, String)>,
    /// How many pods are missing, if that is known.
    pub(crate) missing: Option<u32>,
    /// What refuses: `quota` or `admission`.
    pub(crate) by: &'static str,
    pub(crate) message: String,
    pub(crate) at: Option<Timestamp>,
}

impl BlockedWorkload {
    pub(crate) fn sentence(&self) -> String {
        format!("{} {} FailedCreate: {}", self.kind, self.name, self.message)
    }
}

/// All workloads that cannot create pods, in one namespace or in all; sorted by kind, namespace and name.
pub(crate) fn blocked_workloads(
    cluster: &Cluster,
    diagnostics: &Diagnostics,
    namespace: Option<&str>,
    now: Timestamp,
) -> Vec<BlockedWorkload> {
    let mut messages: BTreeMap<(OwnerKind, Text, Text), (String, Option<Timestamp>)> = BTreeMap::new();
    for event in diagnostics.events.iter().filter(|event| event.reason == "FailedCreate") {
        let Some(kind) = kind(event).filter(|_| is_recent(event, now)) else { continue };
        let entry = messages.entry((kind, (*event.namespace).into(), (*event.name).into())).or_default();
        if entry.1 <= event.at {
            *entry = (event.message.clone(), event.at);
        }
    }
    for failed in &diagnostics.failures {
        let key = (failed.kind, (*failed.namespace).into(), (*failed.name).into());
        messages.insert(key, (failed.message.clone(), failed.at));
    }
    let is_requested = |of: &Text| namespace.is_none_or(|namespace| **of == *namespace);
    let pod_counts = pod_counts(cluster);
    let found = messages.into_iter().filter(|((_, of, _), _)| is_requested(of)).filter_map(
        |((kind, of, name), refusal)| {
            let workload = cluster.owners().named(kind, &of, &name)?;
            blocked_workload(cluster, workload, &pod_counts, refusal)
        },
    );
    found.collect()
}

fn kind(event: &EventSummary) -> Option<OwnerKind> {
    OwnerKind::ALL.into_iter().find(|kind| kind.as_str() == event.kind)
}

fn is_recent(event: &EventSummary, now: Timestamp) -> bool {
    event.at.is_some_and(|at| now.duration_since(at) <= STALE)
}

/// How many pods each controller has that have not ended and are not being deleted.
fn pod_counts(cluster: &Cluster) -> BTreeMap<&Uid, u32> {
    let mut pod_counts: BTreeMap<&Uid, u32> = BTreeMap::new();
    for pod in cluster.pods().filter(|pod| !pod.is_ended() && !pod.deleting) {
        if let Some(controller) = &pod.controller {
            *pod_counts.entry(&controller.uid).or_default() += 1;
        }
    }
    pod_counts
}

fn blocked_workload(
    cluster: &Cluster,
    workload: &Workload,
    pod_counts: &BTreeMap<&Uid, u32>,
    (message, at): (String, Option<Timestamp>),
) -> Option<BlockedWorkload> {
    let has = pod_counts.get(&workload.uid).copied().unwrap_or(0);
    let missing = workload.desired_pods.map(|wanted| wanted.saturating_sub(has));
    if missing == Some(0) || workload.is_deleting {
        return None;
    }
    let claim = workload.controller.as_ref();
    let top = claim.and_then(|claim| cluster.owners().named(claim.kind?, &workload.namespace, &claim.name));
    Some(BlockedWorkload {
        kind: workload.kind,
        namespace: workload.namespace.to_string(),
        name: workload.name.to_string(),
        top: top.map(|top| (top.kind, top.name.to_string())),
        missing,
        by: if message.contains("exceeded quota") { "quota" } else { "admission" },
        message: printable(without_prefix(&message)),
        at,
    })
}

/// The message without the prefix that controllers and the API server add.
fn without_prefix(message: &str) -> &str {
    match message.split_once("is forbidden: ") {
        Some((_, rest)) => rest,
        None => message.strip_prefix("Error creating: ").unwrap_or(message),
    }
}
