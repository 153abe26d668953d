//! Workloads that want pods and cannot even make them: a quota or an admission rule refuses.

use crate::render::printable;
use crate::world::events::EventNote;
use crate::world::notes::Notes;
use common::cluster::Cluster;
use common::model::ids::{Text, Uid};
use common::model::owner::{OwnerKind, Workload};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

/// A refusal that was not repeated for so long is over: controllers try again within minutes.
const STALE: SignedDuration = SignedDuration::from_mins(30);

/// A workload without the pods that it wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unmade {
    pub(crate) kind: OwnerKind,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// Who controls it in turn.
    pub(crate) top: Option<(OwnerKind, String)>,
    /// How many pods are missing, if that can be told.
    pub(crate) missing: Option<u32>,
    /// What refuses, in a word: quota or admission.
    pub(crate) by: &'static str,
    /// In the words of whoever refused.
    pub(crate) message: String,
    pub(crate) at: Option<Timestamp>,
}

impl Unmade {
    /// The whole in one sentence.
    pub(crate) fn sentence(&self) -> String {
        format!("{} {} FailedCreate: {}", self.kind, self.name, self.message)
    }
}

/// Every one of them, by namespace and name; in one namespace or in all.
pub(crate) fn unmade(
    cluster: &Cluster,
    notes: &Notes,
    namespace: Option<&str>,
    now: Timestamp,
) -> Vec<Unmade> {
    let mut told: BTreeMap<(OwnerKind, Text, Text), (String, Option<Timestamp>)> = BTreeMap::new();
    for event in notes.events.iter().filter(|event| event.reason == "FailedCreate") {
        let Some(kind) = kind(event).filter(|_| is_recent(event, now)) else { continue };
        let entry = told.entry((kind, (*event.namespace).into(), (*event.name).into())).or_default();
        if entry.1 <= event.at {
            *entry = (event.message.clone(), event.at);
        }
    }
    for failed in &notes.failures {
        let key = (failed.kind, (*failed.namespace).into(), (*failed.name).into());
        told.insert(key, (failed.message.clone(), failed.at));
    }
    let is_asked = |of: &Text| namespace.is_none_or(|namespace| **of == *namespace);
    let standing = standing(cluster);
    let found =
        told.into_iter().filter(|((_, of, _), _)| is_asked(of)).filter_map(|((kind, of, name), said)| {
            let workload = cluster.owners().named(kind, &of, &name)?;
            one(cluster, workload, &standing, said)
        });
    found.collect()
}

fn kind(event: &EventNote) -> Option<OwnerKind> {
    OwnerKind::ALL.into_iter().find(|kind| kind.as_str() == event.kind)
}

fn is_recent(event: &EventNote, now: Timestamp) -> bool {
    event.at.is_some_and(|at| now.duration_since(at) <= STALE)
}

/// How many pods each controller has that did not end.
fn standing(cluster: &Cluster) -> BTreeMap<&Uid, u32> {
    let mut standing: BTreeMap<&Uid, u32> = BTreeMap::new();
    for pod in cluster.pods().filter(|pod| !pod.is_ended() && !pod.deleting) {
        if let Some(controller) = &pod.controller {
            *standing.entry(&controller.uid).or_default() += 1;
        }
    }
    standing
}

fn one(
    cluster: &Cluster,
    workload: &Workload,
    standing: &BTreeMap<&Uid, u32>,
    (message, at): (String, Option<Timestamp>),
) -> Option<Unmade> {
    let has = standing.get(&workload.uid).copied().unwrap_or(0);
    let missing = workload.wanted.map(|wanted| wanted.saturating_sub(has));
    if missing == Some(0) || workload.is_deleting {
        return None;
    }
    let claim = workload.controller.as_ref();
    let top = claim.and_then(|claim| cluster.owners().named(claim.kind?, &workload.namespace, &claim.name));
    Some(Unmade {
        kind: workload.kind,
        namespace: workload.namespace.to_string(),
        name: workload.name.to_string(),
        top: top.map(|top| (top.kind, top.name.to_string())),
        missing,
        by: if message.contains("exceeded quota") { "quota" } else { "admission" },
        message: printable(core(&message)),
        at,
    })
}

/// What was said, without what controllers put before it.
fn core(message: &str) -> &str {
    match message.split_once("is forbidden: ") {
        Some((_, rest)) => rest,
        None => message.strip_prefix("Error creating: ").unwrap_or(message),
    }
}
