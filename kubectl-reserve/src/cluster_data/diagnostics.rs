//! What is read and no scheduling decision depends on: events, failed creates, rollouts, priority classes, and the JSON of some
//! pods, from which the status of containers is decoded on demand.

use super::events::EventSummary;
use crate::reader::Metadata;
use common::model::{OwnerKind, Pod, PodKey, Uid, Workload};
use jiff::Timestamp;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The JSON of a Pending pod without owner is kept while fewer owners than this have a pod in `sources`: a limit for clusters with
/// thousands of Pending pods.
const SOURCES_MAX: usize = 1000;

/// What explains decisions, and is not part of them.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    /// Names of pods that the user asks about.
    pub(super) requested_pods: BTreeSet<String>,
    /// The JSON of the requested pods, and of one Pending pod of each owner.
    sources: BTreeMap<PodKey, Box<str>>,
    /// The UIDs of the owners, or of pods without owner, that have a Pending pod in `sources`.
    owners_with_source: BTreeSet<Uid>,
    pub(crate) events: Vec<EventSummary>,
    /// ReplicaSets with the condition `ReplicaFailure`.
    pub(crate) failures: Vec<FailedCreate>,
    /// Deployments with `maxUnavailable` 0, by UID.
    pub(crate) surge_only_rollouts: BTreeMap<Uid, SurgeOnlyRollout>,
    pub(crate) priority_classes: BTreeMap<String, PriorityClass>,
}

/// A rollout with `maxUnavailable` 0: it removes an old pod only when a new one is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SurgeOnlyRollout {
    pub(crate) replicas: u32,
    pub(crate) max_surge: u32,
}

/// Why a workload cannot create pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailedCreate {
    pub(crate) kind: OwnerKind,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) message: String,
    pub(crate) at: Option<Timestamp>,
}

/// The fields of a PriorityClass that admission copies into pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PriorityClass {
    pub(crate) value: i32,
    pub(crate) global_default: bool,
    pub(crate) preemption_policy: Option<String>,
}

/// The status of a pod and its containers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PodDetail {
    pub(crate) is_ready: bool,
    /// Whether the kubelet has accepted it (`status.startTime`).
    pub(crate) is_started: bool,
    /// Init containers first.
    pub(crate) containers: Vec<ContainerDetail>,
    /// `status.reason` and `status.message`, which say why a pod failed.
    pub(crate) reason: String,
    pub(crate) message: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContainerDetail {
    pub(crate) name: String,
    pub(crate) is_init: bool,
    pub(crate) is_ready: bool,
    pub(crate) is_running: bool,
    /// The reason of the state `waiting`, such as `ImagePullBackOff`, or of a failed termination.
    pub(crate) waiting_reason: String,
    pub(crate) message: String,
}

#[derive(Deserialize)]
struct PriorityClassWire {
    metadata: Metadata,
    #[serde(flatten)]
    rest: PriorityClass,
}

impl Diagnostics {
    /// Keeps the JSON of a pod that the user asks about, and of the first Pending pod of each owner: it stands for the others.
    pub(super) fn pod(&mut self, pod: &Pod, json: &str) {
        let is_first = |owners: &mut BTreeSet<Uid>| match &pod.controller {
            Some(controller) => owners.insert(controller.uid.clone()),
            None => owners.insert(pod.uid.clone()) && owners.len() < SOURCES_MAX,
        };
        if self.requested_pods.contains(&*pod.key.name)
            || (pod.is_waiting() && is_first(&mut self.owners_with_source))
        {
            self.sources.insert(pod.key.clone(), json.into());
        }
    }

    pub(crate) fn source_of(&self, key: &PodKey) -> Option<serde_json::Value> {
        serde_json::from_str(self.sources.get(key)?).ok()
    }

    /// The status of a pod and its containers, if the pod's JSON was kept.
    pub(crate) fn detail(&self, key: &PodKey) -> Option<PodDetail> {
        self.sources.get(key).map(|json| crate::reader::status(json))
    }

    pub(super) fn workload(&mut self, workload: &Workload, json: &str) {
        match workload.kind {
            OwnerKind::ReplicaSet => {
                self.failures.extend(super::workload_details::failed_create(workload, json))
            }
            OwnerKind::Deployment => {
                if let Some(rollout) = super::workload_details::surge_only_rollout(json) {
                    self.surge_only_rollouts.insert(workload.uid.clone(), rollout);
                }
            }
            _ => {}
        }
    }

    /// Adds an event, once. An event that cannot be decoded is ignored.
    pub(super) fn event(&mut self, json: &str) {
        let Some(event) = EventSummary::read(json) else { return };
        if !self.events.contains(&event) {
            self.events.push(event);
        }
    }

    pub(super) fn priority_class(&mut self, json: &str) {
        if let Ok(class) = serde_json::from_str::<PriorityClassWire>(json) {
            self.priority_classes.insert(class.metadata.name, class.rest);
        }
    }

    /// The events about an object, the newest first.
    pub(crate) fn about(&self, kind: &str, namespace: &str, name: &str) -> Vec<&EventSummary> {
        let is_about = |event: &&EventSummary| {
            (&*event.kind, &*event.namespace, &*event.name) == (kind, namespace, name)
        };
        let mut events: Vec<&EventSummary> = self.events.iter().filter(is_about).collect();
        events.sort_by_key(|event| std::cmp::Reverse(event.at));
        events
    }
}

#[cfg(test)]
mod tests {
    use super::Diagnostics;
    use serde_json::json;

    #[test]
    fn events_of_old_and_of_today_are_read() {
        let mut diagnostics = Diagnostics::default();
        let old = json!({ "involvedObject": { "kind": "Pod", "namespace": "a", "name": "p" }, "reason": "FailedScheduling",
                          "source": { "component": "default-scheduler" }, "lastTimestamp": "2026-11-16T08:00:00Z",
                          "eventTime": null });
        let new = json!({ "involvedObject": { "kind": "Pod", "namespace": "a", "name": "p" }, "reason": "FailedScheduling",
                          "reportingComponent": "volcano", "eventTime": "2026-11-16T08:00:00.5Z",
                          "series": { "count": 3, "lastObservedTime": "2026-11-16T08:01:00.5Z" }, "lastTimestamp": null });
        diagnostics.event(&old.to_string());
        diagnostics.event(&new.to_string());
        diagnostics.event(&new.to_string());
        let about = diagnostics.about("Pod", "a", "p");
        let shown: Vec<&str> = about.iter().map(|event| &*event.component).collect();
        assert_eq!(shown, ["volcano", "default-scheduler"]);
    }
}
