//! The workloads of a history: who controls whom, how many pods are wanted, and when that last changed.

use super::{History, metadata};
use crate::control_plane::Write;
use common::model::owner::{ControllerRef, OwnerKind};
use common::model::{self, Pod, Uid};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A workload as it last was.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its kind, as in `kind:`.
    pub kind: OwnerKind,
    namespace: String,
    name: String,
    controller: Option<Uid>,
    /// How many pods are wanted, for the kinds that say so.
    pub wanted: Option<i64>,
    /// Since when it is being deleted, or gone.
    pub gone: Option<Timestamp>,
    /// The whole object, of a DaemonSet.
    pub daemon_set: Option<Arc<Value>>,
}

/// One change of a workload, at the revision where it was stored.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) revision: u64,
    pub(super) at: Timestamp,
    uid: Uid,
    kind: OwnerKind,
    object: Option<Value>,
    is_scale: bool,
}

/// All workloads that were ever there.
#[derive(Clone, Debug, Default)]
pub struct Owners(BTreeMap<Uid, Workload>);

/// The changes of workloads in the audit log, oldest first.
pub(super) fn changes(history: &History) -> Vec<Change> {
    // A Status has no revision: it came after whatever was answered before.
    let mut newest = 0;
    let mut found = Vec::new();
    for write in history.writes.iter().filter(|write| write.is_stored()) {
        let revision = write.resource_version_after.as_ref().and_then(|text| text.parse().ok());
        newest = newest.max(revision.unwrap_or(0));
        found.extend(change(write, revision.unwrap_or(newest)));
    }
    found.sort_by_key(|change| change.revision);
    found
}

fn change(write: &Write, revision: u64) -> Option<Change> {
    let (plural, part) = write.resource.split_once('/').unwrap_or((&write.resource, ""));
    let followed = OwnerKind::ALL.into_iter().find(|kind| kind.plural() == plural);
    let is_foreign = || {
        let object = write.response_object.as_ref()?;
        let (group, _) = object["apiVersion"].as_str()?.split_once('/')?;
        (group.contains('.') && !group.ends_with("k8s.io")).then_some(OwnerKind::Foreign)
    };
    let kind = followed.or_else(is_foreign)?;
    let is_gone = write.verb == "delete";
    let details = || write.response_object.as_ref()?.get("details")?.get("uid")?.as_str();
    let uid = metadata(write, "uid").or_else(details)?;
    let object = if is_gone { None } else { write.response_object.clone() };
    let is_scale = part == "scale";
    Some(Change { revision, at: write.answered, uid: uid.into(), kind, object, is_scale })
}

impl Change {
    /// The kind of the workload, such as `deployments`.
    pub(super) fn plural(&self) -> &'static str {
        self.kind.plural()
    }
}

impl Owners {
    /// Learns a change. The UID of the owner that now wants another number, if it does.
    pub(super) fn apply(&mut self, change: &Change) -> Option<Uid> {
        let known = self.0.get_mut(&change.uid);
        let Some(object) = &change.object else {
            let known = known?;
            known.gone.get_or_insert(change.at);
            return Some(change.uid.clone());
        };
        let wanted = wanted(change.kind, object);
        if change.is_scale {
            known?.wanted = wanted;
            return Some(change.uid.clone());
        }
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        let references = object["metadata"]["ownerReferences"].as_array();
        let controller =
            references.and_then(|all| all.iter().find(|reference| reference["controller"] == true));
        let workload = Workload {
            kind: change.kind,
            namespace: text("namespace"),
            name: text("name"),
            controller: controller.and_then(|reference| reference["uid"].as_str()).map(Uid::from),
            wanted,
            gone: object["metadata"]["deletionTimestamp"].is_string().then_some(change.at),
            daemon_set: (change.kind == OwnerKind::DaemonSet).then(|| Arc::new(object.clone())),
        };
        let differs = known.is_none_or(|known| known.wanted != workload.wanted);
        self.0.insert(change.uid.clone(), workload);
        differs.then(|| change.uid.clone())
    }

    /// Learns how a workload is now.
    pub fn put(&mut self, workload: &model::Workload, gone: Option<Timestamp>) {
        let known = Workload {
            kind: workload.kind,
            namespace: workload.namespace.to_string(),
            name: workload.name.to_string(),
            controller: workload.controller.as_ref().map(|controller| controller.uid.clone()),
            wanted: workload.wanted.map(i64::from),
            gone,
            daemon_set: None,
        };
        self.0.insert(workload.uid.clone(), known);
    }

    /// The workload with this UID.
    pub fn get(&self, uid: &Uid) -> Option<&Workload> {
        self.0.get(uid)
    }

    /// The owners that `pod` really has, nearest first.
    pub fn chain(&self, pod: &Pod) -> Vec<(&Uid, &Workload)> {
        let claim = pod.controller.as_deref();
        let first = claim.and_then(|claim| self.0.get_key_value(&claim.uid)).filter(|(_, owner)| {
            let is_kind = |claim: &ControllerRef| match owner.kind {
                OwnerKind::Foreign => claim.foreign.is_some(),
                kind => claim.kind == Some(kind),
            };
            claim.is_some_and(|claim| is_kind(claim) && *claim.name == *owner.name)
                && *pod.key.namespace == *owner.namespace
        });
        let above = |(_, owner): &(&Uid, &Workload)| self.0.get_key_value(owner.controller.as_ref()?);
        std::iter::successors(first, above).take(10).collect()
    }

    /// Whether a pod may use what is kept for `owner`, in place of a pod called `replaced`.
    pub fn owns(&self, owner: &Uid, pod: &Pod, replaced: Option<&str>) -> bool {
        let chain = self.chain(pod);
        let by_name = chain.iter().any(|(_, owner)| owner.kind == OwnerKind::StatefulSet);
        chain.iter().any(|(uid, _)| *uid == owner)
            && (!by_name || replaced.is_none_or(|name| name == &*pod.key.name))
    }
}

fn wanted(kind: OwnerKind, object: &Value) -> Option<i64> {
    match kind {
        OwnerKind::Job | OwnerKind::CronJob | OwnerKind::DaemonSet | OwnerKind::Foreign => None,
        _ => object["spec"]["replicas"].as_i64(),
    }
}
