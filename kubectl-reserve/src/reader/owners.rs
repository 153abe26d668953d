//! Reads workloads, and the owners of pods from the nearest to the top. An `ownerReferences` entry proves nothing: `common::cluster`
//! counts an owner only if the object that was read has the claimed UID.

use super::{existing, get, list, readable, served};
use crate::api::{ApiError, METADATA};
use crate::connect::{Session, is_name};
use crate::error::Failure;
use common::api::DecodeError;
use common::api::workload::workload;
use common::cluster::{Cluster, Event, WatchEvent};
use common::model::Pod;
use common::model::ids::Text;
use common::model::owner::{ControllerRef, OwnerKind, Workload};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The number of requests that are sent in parallel.
pub(crate) const PARALLEL: usize = 16;

/// If more workloads of one kind are needed, the whole kind is listed.
const EACH_MAX: usize = 200;

/// The maximum depth of owners. Real chains are shorter: Pod, Job, CronJob. Forged references can form a circle.
const DEPTH_MAX: usize = 4;

/// Kind, namespace, name.
pub(crate) type WorkloadKey = (OwnerKind, String, String);

/// A workload, with what no scheduling decision depends on but the verbs do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkloadView {
    pub(crate) workload: Workload,
    /// A label selector for its pods, in the syntax of a query.
    pub(crate) selector: Option<String>,
    /// `spec.backoffLimit` of a Job.
    pub(crate) backoff_limit: Option<i64>,
}

/// Workloads and the owners above them.
#[derive(Debug, Default)]
pub(crate) struct OwnerChains {
    found: BTreeMap<OwnerKind, Vec<WorkloadView>>,
    /// The kinds that the caller may not read.
    pub(crate) unreadable: BTreeSet<OwnerKind>,
}

#[derive(Deserialize)]
struct WorkloadWire {
    #[serde(default)]
    spec: SpecWire,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct SpecWire {
    selector: Value,
    backoff_limit: Option<i64>,
}

impl WorkloadView {
    pub(crate) fn read(kind: OwnerKind, json: &str) -> Result<Self, DecodeError> {
        let workload = workload(kind, json)?;
        let wire = serde_json::from_str(json);
        let WorkloadWire { spec } = wire.map_err(|source| DecodeError { kind: kind.as_str(), source })?;
        Ok(Self { workload, selector: selector(&spec.selector), backoff_limit: spec.backoff_limit })
    }
}

/// The workload that an object in `namespace` claims as its controller; `None` if it is of a kind that is not read.
pub(crate) fn key(claim: Option<&ControllerRef>, namespace: &Text) -> Option<WorkloadKey> {
    let claim = claim?;
    Some((claim.kind?, namespace.to_string(), claim.name.to_string()))
}

pub(crate) fn workload_path((kind, namespace, name): &WorkloadKey) -> String {
    format!("{}/{name}", kind.path_in(namespace))
}

/// Reads these workloads and all of their owners.
pub(crate) async fn owner_chains(
    session: &Session,
    mut wanted: BTreeSet<WorkloadKey>,
) -> Result<OwnerChains, Failure> {
    let mut known: BTreeSet<WorkloadKey> = BTreeSet::new();
    let mut chains = OwnerChains::default();
    for _ in 0..DEPTH_MAX {
        wanted.retain(|key| !known.contains(key) && !chains.unreadable.contains(&key.0) && is_name(&key.2));
        if wanted.is_empty() {
            break;
        }
        let mut above = BTreeSet::new();
        for kind in OwnerKind::ALL {
            let keys: Vec<&WorkloadKey> = wanted.iter().filter(|key| key.0 == kind).collect();
            let Some(views) = read_some(session, kind, &keys).await? else {
                chains.unreadable.insert(kind);
                continue;
            };
            let workloads = views.iter().map(|view| &view.workload);
            above.extend(workloads.filter_map(|one| key(one.controller.as_ref(), &one.namespace)));
            chains.found.entry(kind).or_default().extend(views);
        }
        known.append(&mut wanted);
        wanted = above;
    }
    Ok(chains)
}

/// Reads these workloads of one kind; `None` if the caller may not. Workloads that are gone are left out.
async fn read_some(
    session: &Session,
    kind: OwnerKind,
    keys: &[&WorkloadKey],
) -> Result<Option<Vec<WorkloadView>>, Failure> {
    let failed = |error: ApiError| error.into_failure("read the owner", "get workloads");
    let decode = |json: &str| WorkloadView::read(kind, json);
    if keys.len() > EACH_MAX {
        let all = readable(list(session, &kind.path(), "", METADATA, decode).await);
        return Ok(all.map_err(failed)?.map(|(all, _)| all));
    }
    let read = async |key: &&WorkloadKey| {
        let found = existing(get(session, &workload_path(key), decode).await);
        readable(found.map(|found| found.map(|(view, _)| view))).map_err(failed)
    };
    let found = stream::iter(keys).map(read).buffered(PARALLEL).try_collect::<Vec<_>>().await?;
    let is_refused = found.iter().any(Option::is_none);
    Ok((!is_refused).then(|| found.into_iter().flatten().flatten().collect()))
}

/// All workloads of one kind at a path; `None` if the caller may not list them. An API group that this cluster does not serve has
/// no objects.
pub(crate) async fn workloads(
    session: &Session,
    kind: OwnerKind,
    path: &str,
    accept: &str,
) -> Result<Option<Vec<Workload>>, ApiError> {
    let listed = list(session, path, "", accept, |json| workload(kind, json)).await;
    let listed = readable(served(listed))?;
    Ok(listed.map(|found| found.map(|(all, _)| all).unwrap_or_default()))
}

impl OwnerChains {
    /// Puts all workloads into `cluster`, at once: each change of workloads makes it compute the owners of all pods again.
    pub(crate) fn apply(&self, cluster: &mut Cluster) {
        for kind in OwnerKind::ALL {
            let views = self.found.get(&kind).into_iter().flatten();
            let workloads = views.map(|view| view.workload.clone()).collect();
            cluster.apply(Event::Workloads(kind, WatchEvent::Relisted(workloads)));
        }
        self.unreadable.iter().for_each(|kind| drop(cluster.apply(Event::WorkloadsUnreadable(*kind))));
    }

    /// A `Cluster` that contains these workloads and nothing else.
    pub(crate) fn cluster(&self) -> Cluster {
        let mut cluster = Cluster::default();
        self.apply(&mut cluster);
        cluster
    }

    /// The owners of `pod`, nearest first.
    pub(crate) fn of(&self, pod: &Pod) -> Vec<WorkloadView> {
        let cluster = self.cluster();
        let chain = cluster.owners().chain(pod);
        let view = |workload: &&Workload| {
            self.found.get(&workload.kind)?.iter().find(|view| view.workload.uid == workload.uid).cloned()
        };
        chain.iter().filter_map(view).collect()
    }
}

/// A label selector in the syntax of a query. That of a ReplicationController is a plain map of labels.
fn selector(json: &Value) -> Option<String> {
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
