//! What is read besides what decisions follow from: events, why pods could not be made, what containers wait for.

use super::events::EventNote;
use common::model::Pod;
use common::model::ids::{PodKey, Uid};
use common::model::owner::{OwnerKind, Workload};
use jiff::Timestamp;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Pods without an owner whose JSON is kept: a limit for clusters where thousands wait.
const SOURCES_MAX: usize = 1000;

/// All of it.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Names of pods that somebody asks for.
    pub(super) detailed: BTreeSet<String>,
    /// The JSON of those, and of one waiting pod of each owner.
    sources: BTreeMap<PodKey, Box<str>>,
    /// The owners of waiting pods whose JSON is there.
    known: BTreeSet<Uid>,
    pub(crate) events: Vec<EventNote>,
    /// ReplicaSets that say in their status that they cannot make pods.
    pub(crate) failures: Vec<FailedCreate>,
    /// Deployments that must not go below their number: how many pods they want, and may have on top.
    pub(crate) surging: BTreeMap<Uid, Surge>,
    pub(crate) priority_classes: BTreeMap<String, PriorityClass>,
}

/// A rollout that removes an old pod only when a new one is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Surge {
    pub(crate) replicas: u32,
    pub(crate) surge: u32,
}

/// Why a workload cannot make pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailedCreate {
    pub(crate) kind: OwnerKind,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) message: String,
    pub(crate) at: Option<Timestamp>,
}

/// A priority class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PriorityClass {
    pub(crate) value: i32,
    pub(crate) global_default: bool,
    pub(crate) preemption_policy: Option<String>,
}

/// What the containers of a pod say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Detail {
    pub(crate) is_ready: bool,
    /// When its node took it up.
    pub(crate) is_started: bool,
    /// Init containers first.
    pub(crate) containers: Vec<ContainerDetail>,
    /// `status.reason` and `status.message`, which say why a pod failed.
    pub(crate) reason: String,
    pub(crate) message: String,
}

/// One container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContainerDetail {
    pub(crate) name: String,
    pub(crate) is_init: bool,
    pub(crate) is_ready: bool,
    pub(crate) is_running: bool,
    pub(crate) has_ended_well: bool,
    /// Why it waits, such as `ImagePullBackOff`.
    pub(crate) waits: String,
    pub(crate) message: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Meta {
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Named<T> {
    metadata: Meta,
    #[serde(flatten)]
    rest: T,
}

impl Notes {
    /// Keeps the JSON of a pod, if somebody asked for it or it may have to speak for others like it.
    pub(super) fn pod(&mut self, pod: &Pod, json: &str) {
        let speaks = |known: &mut BTreeSet<Uid>| match &pod.controller {
            Some(controller) => known.insert(controller.uid.clone()),
            None => known.insert(pod.uid.clone()) && known.len() < SOURCES_MAX,
        };
        if self.detailed.contains(&*pod.key.name) || (pod.is_waiting() && speaks(&mut self.known)) {
            self.source(&pod.key, json);
        }
    }

    /// Keeps the JSON of a pod.
    pub(crate) fn source(&mut self, key: &PodKey, json: &str) {
        self.sources.insert(key.clone(), json.into());
    }

    /// The pod as the API server has it, if that was kept.
    pub(crate) fn source_of(&self, key: &PodKey) -> Option<serde_json::Value> {
        serde_json::from_str(self.sources.get(key)?).ok()
    }

    /// What the containers of a pod say, if that was kept.
    pub(crate) fn detail(&self, key: &PodKey) -> Option<Detail> {
        self.sources.get(key).map(|json| super::details::detail(json))
    }

    pub(super) fn workload(&mut self, workload: &Workload, json: &str) {
        match workload.kind {
            OwnerKind::ReplicaSet => self.failures.extend(super::rolling::failure(workload, json)),
            OwnerKind::Deployment => {
                if let Some(surge) = super::rolling::surge(json) {
                    self.surging.insert(workload.uid.clone(), surge);
                }
            }
            _ => {}
        }
    }

    /// Keeps an event. One that cannot be read says nothing.
    pub(super) fn event(&mut self, json: &str) {
        let Some(note) = EventNote::read(json) else { return };
        if !self.events.contains(&note) {
            self.events.push(note);
        }
    }

    pub(super) fn priority_class(&mut self, json: &str) {
        if let Ok(class) = serde_json::from_str::<Named<PriorityClass>>(json) {
            self.priority_classes.insert(class.metadata.name, class.rest);
        }
    }

    /// The events about an object, the newest first.
    pub(crate) fn about(&self, kind: &str, namespace: &str, name: &str) -> Vec<&EventNote> {
        let is_about =
            |event: &&EventNote| (&*event.kind, &*event.namespace, &*event.name) == (kind, namespace, name);
        let mut events: Vec<&EventNote> = self.events.iter().filter(is_about).collect();
        events.sort_by_key(|event| std::cmp::Reverse(event.at));
        events
    }
}

#[cfg(test)]
mod tests {
    use super::Notes;
    use serde_json::json;

    #[test]
    fn events_of_old_and_of_today_are_read() {
        let mut notes = Notes::default();
        let old = json!({ "involvedObject": { "kind": "Pod", "namespace": "a", "name": "p" }, "reason": "FailedScheduling",
                          "source": { "component": "default-scheduler" }, "lastTimestamp": "2026-11-16T08:00:00Z",
                          "eventTime": null });
        let new = json!({ "involvedObject": { "kind": "Pod", "namespace": "a", "name": "p" }, "reason": "FailedScheduling",
                          "reportingComponent": "volcano", "eventTime": "2026-11-16T08:00:00.5Z",
                          "series": { "count": 3, "lastObservedTime": "2026-11-16T08:01:00.5Z" }, "lastTimestamp": null });
        notes.event(&old.to_string());
        notes.event(&new.to_string());
        notes.event(&new.to_string());
        let about = notes.about("Pod", "a", "p");
        let shown: Vec<&str> = about.iter().map(|event| &*event.component).collect();
        assert_eq!(shown, ["volcano", "default-scheduler"]);
    }
}
