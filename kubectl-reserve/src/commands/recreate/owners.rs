//! Reads the owners of one pod from the API server, from the nearest to the top, and the selector for the owner's pods.

use crate::api::{self as calls, ApiError, JSON};
use crate::connect::Session;
use common::api;
use common::cluster::{Cluster, Event, WatchEvent};
use common::model::owner::{ControllerRef, OwnerKind, Workload};
use common::model::{Pod, PodKey};
use serde_json::Value;
use std::collections::BTreeMap;

/// The maximum depth of owners. Real chains are shorter; forged references can form a circle.
const DEPTH_MAX: usize = 4;

/// The owners of a pod that the caller may read.
#[derive(Default)]
pub(super) struct Chain {
    /// Nearest first.
    pub(super) workloads: Vec<Workload>,
    /// The kinds that the caller may not read.
    pub(super) unreadable: Vec<OwnerKind>,
    /// A label selector for the owner's pods.
    pub(super) selector: Option<String>,
    /// `spec.backoffLimit`, if an owner is a Job.
    pub(super) backoff_limit: Option<i64>,
}

/// Reads the owners of `pod`.
pub(super) async fn chain(session: &Session, pod: &Pod) -> Result<Chain, ApiError> {
    let mut chain = Chain::default();
    let mut claim: Option<ControllerRef> = pod.controller.as_deref().cloned();
    while let Some((found, kind)) = claim.take().and_then(|claim| claim.kind.map(|kind| (claim, kind)))
        && chain.workloads.len() < DEPTH_MAX
    {
        let path = format!("{}/{}", kind.path_in(&pod.key.namespace), found.name);
        let text = match calls::get(session, &path, JSON).await {
            Ok(answer) => answer.text,
            Err(error) if error.code() == Some(403) => {
                chain.unreadable.push(kind);
                break;
            }
            Err(error) if error.code() == Some(404) => break,
            Err(error) => return Err(error),
        };
        let Ok(workload) = api::workload::workload(kind, &text) else { break };
        if workload.uid != found.uid {
            break;
        }
        let json: Value = serde_json::from_str(&text).unwrap_or_default();
        chain.selector = selector(&json["spec"]["selector"]).or(chain.selector.take());
        if kind == OwnerKind::Job {
            chain.backoff_limit = json["spec"]["backoffLimit"].as_i64();
        }
        claim = workload.controller.clone();
        chain.workloads.push(workload);
    }
    Ok(chain)
}

impl Chain {
    /// A `Cluster` that contains these workloads and nothing else.
    pub(super) fn cluster(&self) -> Cluster {
        let mut cluster = Cluster::default();
        for kind in OwnerKind::ALL {
            let own = self.workloads.iter().filter(|workload| workload.kind == kind).cloned().collect();
            cluster.apply(Event::Workloads(kind, WatchEvent::Relisted(own)));
        }
        self.unreadable.iter().for_each(|kind| drop(cluster.apply(Event::WorkloadsUnreadable(*kind))));
        cluster
    }
}

/// A label selector in the syntax of a query. That of a ReplicationController is a plain map of labels.
pub(super) fn selector(json: &Value) -> Option<String> {
    let labels = |value: &Value| -> BTreeMap<String, String> {
        serde_json::from_value(value.clone()).unwrap_or_default()
    };
    let plain = json.get("matchLabels").is_none() && json.get("matchExpressions").is_none();
    let equal = labels(if plain { json } else { &json["matchLabels"] });
    let mut parts: Vec<String> = equal.iter().map(|(key, value)| format!("{key}={value}")).collect();
    for expression in json["matchExpressions"].as_array().into_iter().flatten() {
        let key = expression["key"].as_str()?;
        let values: Vec<&str> =
            expression["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        parts.push(match expression["operator"].as_str()? {
            "In" => format!("{key} in ({})", values.join(",")),
            "NotIn" => format!("{key} notin ({})", values.join(",")),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            _ => return None,
        });
    }
    (!parts.is_empty()).then(|| parts.join(","))
}

/// The API path of a pod.
pub(super) fn pod_path(key: &PodKey) -> String {
    format!("/api/v1/namespaces/{}/pods/{}", key.namespace, key.name)
}

#[cfg(test)]
mod tests {
    use super::selector;
    use serde_json::json;

    #[test]
    fn selectors_become_queries() {
        let full = json!({ "matchLabels": { "b": "2", "a": "1" }, "matchExpressions": [
            { "key": "c", "operator": "In", "values": ["x", "y"] }, { "key": "d", "operator": "DoesNotExist" }] });
        assert_eq!(selector(&full).unwrap(), "a=1,b=2,c in (x,y),!d");
        assert_eq!(selector(&json!({ "app": "old" })).unwrap(), "app=old");
        assert_eq!(selector(&json!({ "matchExpressions": [{ "key": "c", "operator": "Near" }] })), None);
        assert_eq!(selector(&json!(null)), None);
    }
}
