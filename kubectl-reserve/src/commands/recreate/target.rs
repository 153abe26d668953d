//! Reads the pod that is to be recreated, with its owners and its node.

use super::owners::{Chain, chain, pod_path};
use crate::api::{self as calls, ApiError, JSON};
use crate::connect::Session;
use crate::error::Failure;
use common::api;
use common::cluster::Cluster;
use common::model::chain::chain as whole;
use common::model::owner::Owner;
use common::model::{Node, Pod, PodKey};
use jiff::Timestamp;
use serde_json::Value;

/// A pod with its owners and its node.
pub(crate) struct TargetPod {
    pub(crate) pod: Pod,
    /// The pod as the server sent it.
    pub(crate) json: Value,
    pub(super) chain: Chain,
    /// A `Cluster` that contains the pod's owners and nothing else.
    pub(super) cluster: Cluster,
    /// The owner of its reservation; `None` if an owner that the pod names could not be read.
    pub(crate) owner: Option<Owner>,
    /// Its node, if the caller may read it.
    pub(crate) node: Option<Node>,
    /// The server's time when the pod was read.
    pub(crate) now: Timestamp,
}

/// Reads the pod called `key`, its owners and its node.
pub(crate) async fn read(session: &Session, key: &PodKey) -> Result<TargetPod, Failure> {
    let needs = format!("get pods in namespace {}", key.namespace);
    let answer = calls::get(session, &pod_path(key), JSON).await;
    let answer = answer.map_err(|error| not_found(error, key, &needs))?;
    let pod = api::pod::pod(&answer.text).map_err(|error| Failure::new(whole(&error)))?;
    let json: Value = serde_json::from_str(&answer.text).map_err(Failure::new)?;
    let chain = chain(session, &pod).await;
    let chain = chain.map_err(|error| error.into_failure("read the pod's owners", "get its owners"))?;
    let cluster = chain.cluster();
    let owner = cluster.owner_of(&pod).ok();
    let node = match &pod.node {
        Some(name) => read_node(session, name.as_str()).await?,
        None => None,
    };
    let now = answer.at.unwrap_or_default();
    Ok(TargetPod { pod, json, chain, cluster, owner, node, now })
}

/// A node; `None` if it does not exist, or the caller may not read it.
async fn read_node(session: &Session, name: &str) -> Result<Option<Node>, Failure> {
    match calls::get(session, &format!("/api/v1/nodes/{name}"), JSON).await {
        Ok(answer) => api::node::node(&answer.text).map(Some).map_err(|error| Failure::new(whole(&error))),
        Err(error) if matches!(error.code(), Some(403 | 404)) => Ok(None),
        Err(error) => Err(error.into_failure("read the node", "get nodes")),
    }
}

fn not_found(error: ApiError, key: &PodKey, needs: &str) -> Failure {
    match error {
        ApiError::Refused(refused) if refused.code == 404 => {
            Failure::new(format!("Error from server (NotFound): {}", refused.message)).hint(format!(
                "kubectl get pods -n {} lists the pods there; -n NAMESPACE looks elsewhere",
                key.namespace
            ))
        }
        error => error.into_failure("read the pod", needs),
    }
}

impl TargetPod {
    /// `pod/NAME`.
    pub(crate) fn name(&self) -> String {
        format!("pod/{}", self.pod.key.name)
    }

    /// The node's name.
    pub(crate) fn node_name(&self) -> &str {
        self.pod.node.as_ref().map_or("", |node| node.as_str())
    }

    /// Whether the pod has no controller.
    pub(crate) fn is_bare(&self) -> bool {
        self.pod.controller.is_none()
    }

    /// Whether one of its owners has this kind.
    pub(crate) fn is_of(&self, kind: common::model::owner::OwnerKind) -> bool {
        self.chain.workloads.iter().any(|owner| owner.kind == kind)
    }

    /// The owners that the pod names, nearest first, as `Kind name`.
    pub(crate) fn claims(&self) -> Vec<String> {
        let read = self.chain.workloads.iter().map(|owner| format!("{} {}", owner.kind, owner.name));
        let mut claims: Vec<String> = read.collect();
        if claims.is_empty() {
            let references = self.json["metadata"]["ownerReferences"].as_array().into_iter().flatten();
            let mut controllers = references.filter(|one| one["controller"].as_bool() == Some(true));
            claims.extend(controllers.next().map(|one| {
                format!("{} {}", one["kind"].as_str().unwrap_or("?"), one["name"].as_str().unwrap_or("?"))
            }));
        }
        claims
    }

    /// The grace period in seconds: `asked`, or that of the pod if `asked` is negative.
    pub(crate) fn grace(&self, asked: i64) -> i64 {
        let own = self.json["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap_or(30);
        if asked >= 0 { asked } else { own }
    }

    /// The names of its emptyDir volumes.
    pub(crate) fn empty_dirs(&self) -> Vec<String> {
        let volumes = self.json["spec"]["volumes"].as_array().into_iter().flatten();
        let empty = volumes.filter(|volume| volume["emptyDir"].is_object());
        let name = |volume: &Value| {
            let name = volume["name"].as_str().unwrap_or("?");
            let is_memory = volume["emptyDir"]["medium"].as_str() == Some("Memory");
            if is_memory { format!("{name} (memory)") } else { name.to_owned() }
        };
        empty.map(name).collect()
    }

    /// The finalizers of the pod.
    pub(crate) fn finalizers(&self) -> Vec<String> {
        finalizers(&self.json)
    }
}

/// The finalizers of an object.
pub(super) fn finalizers(json: &Value) -> Vec<String> {
    let all = json["metadata"]["finalizers"].as_array().into_iter().flatten();
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether the condition Ready of a pod is true.
pub(super) fn is_ready(json: &Value) -> bool {
    let conditions = json["status"]["conditions"].as_array().into_iter().flatten();
    let mut ready = conditions.filter(|condition| condition["type"] == "Ready");
    ready.any(|condition| condition["status"] == "True")
}
