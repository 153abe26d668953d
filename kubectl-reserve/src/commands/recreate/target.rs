//! Reads the pod that is to be recreated, with its owners and its node.

use crate::api::ApiError;
use crate::connect::Session;
use crate::error::Failure;
use crate::reader::{self, OwnerChains, PodView, WorkloadView, owner_chains, pod_path, readable};
use common::cluster::Cluster;
use common::model::owner::{Owner, OwnerKind};
use common::model::{Node, PodKey};
use jiff::Timestamp;

/// A pod with its owners and its node.
pub(crate) struct TargetPod {
    pub(crate) pod: PodView,
    /// The JSON that the server sent.
    pub(super) source: String,
    /// The owners that could be read, nearest first.
    pub(super) chain: Vec<WorkloadView>,
    pub(super) owners: OwnerChains,
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
    let decode = |json: &str| Ok((PodView::read(json)?, json.to_owned()));
    let found = reader::get(session, &pod_path(key), decode).await;
    let ((pod, source), at) = found.map_err(|error| not_found(error, key, &needs))?;
    let wanted = reader::key(pod.controller.as_deref(), &key.namespace);
    let owners = owner_chains(session, wanted.into_iter().collect()).await?;
    let node = match &pod.node {
        Some(name) => {
            let read = readable(reader::node(session, name.as_str()).await);
            read.map_err(|error| error.into_failure("read the node", "get nodes"))?.flatten()
        }
        None => None,
    };
    let node = node.map(|(node, _)| node);
    Ok(TargetPod::new(pod, source, owners, node, at.unwrap_or_default()))
}

fn not_found(error: ApiError, key: &PodKey, needs: &str) -> Failure {
    match error {
        ApiError::Refused(refused) if refused.is_not_found() => {
            Failure::new(format!("Error from server (NotFound): {}", refused.message)).hint(format!(
                "kubectl get pods -n {} lists the pods there; -n NAMESPACE looks elsewhere",
                key.namespace
            ))
        }
        error => error.into_failure("read the pod", needs),
    }
}

impl TargetPod {
    pub(super) fn new(
        pod: PodView,
        source: String,
        owners: OwnerChains,
        node: Option<Node>,
        now: Timestamp,
    ) -> Self {
        let (chain, cluster) = (owners.of(&pod), owners.cluster());
        let owner = cluster.owner_of(&pod).ok();
        Self { pod, source, chain, owners, cluster, owner, node, now }
    }

    /// `pod/NAME`.
    pub(crate) fn name(&self) -> String {
        format!("pod/{}", self.pod.key.name)
    }

    pub(crate) fn node_name(&self) -> &str {
        self.pod.node.as_ref().map_or("", |node| node.as_str())
    }

    pub(super) fn node_state(&self) -> Option<String> {
        let node = self.node.as_ref()?;
        let ready = if node.is_ready { "Ready" } else { "NotReady" };
        Some(if node.unschedulable { format!("{ready}, cordoned") } else { ready.to_owned() })
    }

    pub(crate) fn is_bare(&self) -> bool {
        self.pod.controller.is_none()
    }

    pub(crate) fn is_of(&self, kind: OwnerKind) -> bool {
        self.chain.iter().any(|view| view.workload.kind == kind)
    }

    /// The owners that the pod names, nearest first, as `Kind name`.
    pub(crate) fn claims(&self) -> Vec<String> {
        let read = self.chain.iter().map(|view| format!("{} {}", view.workload.kind, view.workload.name));
        let claims: Vec<String> = read.collect();
        match &self.pod.controller {
            Some(claim) if claims.is_empty() => {
                let foreign = claim.foreign.as_ref().map(|foreign| foreign.kind.to_string());
                let kind = claim.kind.map(|kind| kind.as_str().to_owned()).or(foreign);
                vec![format!("{} {}", kind.unwrap_or_else(|| "?".into()), claim.name)]
            }
            _ => claims,
        }
    }

    /// The grace period in seconds: `asked`, or that of the pod if `asked` is negative.
    pub(crate) fn grace(&self, asked: i64) -> i64 {
        if asked >= 0 { asked } else { self.pod.grace_period }
    }

    /// A label selector for the pods of its owner: that of the topmost owner which has one.
    pub(super) fn selector(&self) -> Option<&str> {
        self.chain.iter().rev().find_map(|view| view.selector.as_deref())
    }
}
