//! The workloads of a history: their controllers, and how many pods they want.

use super::{History, metadata};
use crate::control_plane::Write;
use common::model::owner::{ControllerRef, OwnerKind};
use common::model::{self, Pod, Uid};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The last state of a workload.
#[derive(Clone, Debug)]
pub struct OwnerState {
    /// The kind of the workload.
    pub kind: OwnerKind,
    namespace: String,
    name: String,
    controller: Option<Uid>,
    /// `spec.replicas`, for the kinds that have it.
    pub desired_pods: Option<i64>,
    /// The time since when it is being deleted, or gone.
    pub gone: Option<Timestamp>,
    /// The whole object, if it is a DaemonSet.
    pub daemon_set: Option<Arc<Value>>,
}

/// One stored change of a workload.
#[derive(Clone, Debug)]
pub(super) struct OwnerChange {
    pub(super) revision: u64,
    pub(super) at: Timestamp,
    uid: Uid,
    kind: OwnerKind,
    object: Option<Value>,
    is_scale: bool,
}

/// All workloads that ever existed, by UID.
#[derive(Clone, Debug, Default)]
pub struct Owners(BTreeMap<Uid, OwnerState>);

/// The changes of workloads in the audit log, oldest first.
pub(super) fn changes(history: &History) -> Vec<OwnerChange> {
    // The answer to a deletion may have no revision: then it counts as after all writes that were answered before.
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

fn change(write: &Write, revision: u64) -> Option<OwnerChange> {
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
    Some(OwnerChange { revision, at: write.answered, uid: uid.into(), kind, object, is_scale })
}

impl OwnerChange {
    /// The resource name, such as `deployments`.
    pub(super) fn plural(&self) -> &'static str {
        self.kind.plural()
    }
}

impl Owners {
    /// Applies a change. Returns the UID of the workload, if its number of pods changed.
    pub(super) fn apply(&mut self, change: &OwnerChange) -> Option<Uid> {
        let known = self.0.get_mut(&change.uid);
        let Some(object) = &change.object else {
            let known = known?;
            known.gone.get_or_insert(change.at);
            return Some(change.uid.clone());
        };
        let desired_pods = desired_pods(change.kind, object);
        if change.is_scale {
            known?.desired_pods = desired_pods;
            return Some(change.uid.clone());
        }
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        let references = object["metadata"]["ownerReferences"].as_array();
        let controller =
            references.and_then(|all| all.iter().find(|reference| reference["controller"] == true));
        let workload = OwnerState {
            kind: change.kind,
            namespace: text("namespace"),
            name: text("name"),
            controller: controller.and_then(|reference| reference["uid"].as_str()).map(Uid::from),
            desired_pods,
            gone: object["metadata"]["deletionTimestamp"].is_string().then_some(change.at),
            daemon_set: (change.kind == OwnerKind::DaemonSet).then(|| Arc::new(object.clone())),
        };
        let differs = known.is_none_or(|known| known.desired_pods != workload.desired_pods);
        self.0.insert(change.uid.clone(), workload);
        differs.then(|| change.uid.clone())
    }

    /// Sets the current state of a workload.
    pub fn put(&mut self, workload: &model::Workload, gone: Option<Timestamp>) {
        let known = OwnerState {
            kind: workload.kind,
            namespace: workload.namespace.to_string(),
            name: workload.name.to_string(),
            controller: workload.controller.as_ref().map(|controller| controller.uid.clone()),
            desired_pods: workload.desired_pods.map(i64::from),
            gone,
            daemon_set: None,
        };
        self.0.insert(workload.uid.clone(), known);
    }

    /// The workload with this UID.
    pub fn get(&self, uid: &Uid) -> Option<&OwnerState> {
        self.0.get(uid)
    }

    /// The real owners of `pod`, nearest first: claims that do not match kind, name and namespace of an existing owner do not
    /// count.
    pub fn chain(&self, pod: &Pod) -> Vec<(&Uid, &OwnerState)> {
        let claim = pod.controller.as_deref();
        let first = claim.and_then(|claim| self.0.get_key_value(&claim.uid)).filter(|(_, owner)| {
            let is_kind = |claim: &ControllerRef| match owner.kind {
                OwnerKind::Foreign => claim.foreign.is_some(),
                kind => claim.kind == Some(kind),
            };
            claim.is_some_and(|claim| is_kind(claim) && *claim.name == *owner.name)
                && *pod.key.namespace == *owner.namespace
        });
        let above = |(_, owner): &(&Uid, &OwnerState)| self.0.get_key_value(owner.controller.as_ref()?);
        std::iter::successors(first, above).take(10).collect()
    }

    /// Whether a pod may use a reservation of `owner` that replaces a pod called `replaced`.
    pub fn owns(&self, owner: &Uid, pod: &Pod, replaced: Option<&str>) -> bool {
        let chain = self.chain(pod);
        let by_name = chain.iter().any(|(_, owner)| owner.kind == OwnerKind::StatefulSet);
        chain.iter().any(|(uid, _)| *uid == owner)
            && (!by_name || replaced.is_none_or(|name| name == &*pod.key.name))
    }
}

fn desired_pods(kind: OwnerKind, object: &Value) -> Option<i64> {
    match kind {
        OwnerKind::Job | OwnerKind::CronJob | OwnerKind::DaemonSet | OwnerKind::Foreign => None,
        _ => object["spec"]["replicas"].as_i64(),
    }
}
