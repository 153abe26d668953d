//! Reads what `list`, `describe` and `nodes` need, and no more: the selected nodes, their pods, and the workloads that own them.
//! Entry point: `read`.

use super::{owners, per_node};
use crate::api::{self as calls, ApiError, JSON, ListMeta, METADATA};
use crate::clock::local_time;
use crate::cluster_data::ClusterData;
use crate::connect::Session;
use crate::error::Failure;
use crate::reader::{LIVE, NODES, PODS, list, readable, with_labels};
use common::api::{self, names};
use common::cluster::{Cluster, Event, Snapshot, WatchEvent};
use common::model::chain::chain;
use common::model::{Node, Pod, PodKey};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// Up to so many nodes are always read one by one.
const FEW: usize = 32;

/// More nodes than this are not read one by one, if they were selected by labels.
const SELECTED_MAX: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NodeSelection {
    Reserved,
    /// Nodes with reservations whose labels match this selector.
    ReservedWith(String),
    Named(Vec<String>),
    /// Nodes whose labels match this selector; all nodes if it is empty.
    Labelled(String),
}

impl NodeSelection {
    /// The part of the selection that the server can evaluate, as a query.
    fn query(&self) -> String {
        match self {
            Self::Labelled(selector) | Self::ReservedWith(selector) if !selector.is_empty() => {
                with_labels(selector)
            }
            _ => String::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PodSelection {
    OnNodes,
    /// The pods on the nodes, if the caller may list pods.
    IfAllowed,
    /// The pods on the nodes, and the pods that wait for a node.
    AndWaiting,
}

/// The nodes, pods and workloads that were read.
#[derive(Debug)]
pub(crate) struct ReservationView {
    pub(crate) cluster: Cluster,
    /// The API server's time.
    pub(crate) now: Timestamp,
    /// Whether the caller may not read some kinds of workloads, so that an owner may exist although it was not found.
    pub(crate) is_partial: bool,
    /// Whether pods were read: without them it is unknown which reservations are occupied or taken.
    pub(crate) has_pods: bool,
    /// The pods that wait for a node, if they were asked for.
    pub(crate) waiting: Vec<PodKey>,
}

impl ReservationView {
    /// The view of a saved snapshot.
    pub(crate) fn of(data: ClusterData) -> Self {
        let ClusterData { cluster, now, is_partial, .. } = data;
        Self { cluster, now, is_partial, has_pods: true, waiting: Vec::new() }
    }

    /// The cluster at the time when it was read.
    pub(crate) fn snapshot(&mut self) -> Snapshot<'_> {
        self.cluster.snapshot(self.now)
    }
}

/// Reads the selected nodes, their pods, and the workloads that own them.
pub(crate) async fn read(
    session: &Session,
    selection: &NodeSelection,
    pod_selection: PodSelection,
) -> Result<ReservationView, Failure> {
    let mut selected = select(session, selection).await?;
    let known = selected.nodes.take();
    let nodes = async {
        match known {
            Some(nodes) => Ok((nodes, selected.at)),
            None => nodes(session, selection, &selected).await,
        }
    };
    let (nodes, pods) = futures::join!(nodes, pods(session, &selected));
    let (nodes, at) = nodes?;
    let now = selected.at.or(at).unwrap_or_else(local_time);
    let mut cluster = Cluster::default();
    cluster.apply(Event::Nodes(WatchEvent::Relisted(nodes)));
    let live = match pod_selection {
        PodSelection::IfAllowed => readable(pods),
        PodSelection::OnNodes | PodSelection::AndWaiting => pods.map(Some),
    };
    let live = live.map_err(no_pods)?;
    let (mut has_pods, mut live) = (live.is_some(), live.unwrap_or_default());
    let mut waiting = Vec::new();
    if pod_selection == PodSelection::AndWaiting {
        let query = format!("fieldSelector=spec.nodeName%3D%2C{LIVE}");
        match readable(list(session, PODS, &query, JSON, api::pod::pod).await).map_err(no_pods)? {
            Some((pods, _)) => {
                waiting.extend(pods.iter().filter(|pod| pod.is_waiting()).map(|pod| pod.key.clone()));
                live.extend(pods);
            }
            None => has_pods = false,
        }
    }
    cluster.apply(Event::Pods(WatchEvent::Relisted(live)));
    let is_partial = owners::read(session, &mut cluster).await?;
    Ok(ReservationView { cluster, now, is_partial, has_pods, waiting })
}

struct SelectedNodes {
    names: Vec<String>,
    /// The number of nodes in the cluster; an estimate if it was not counted.
    all: usize,
    /// The server's time of the list.
    at: Option<Timestamp>,
    version: String,
    /// The nodes themselves, if they were read already.
    nodes: Option<Vec<Node>>,
}

async fn select(session: &Session, selection: &NodeSelection) -> Result<SelectedNodes, Failure> {
    match selection {
        NodeSelection::Labelled(selector) => {
            let listed = list(session, NODES, &selection.query(), JSON, api::node::node).await;
            let (nodes, ListMeta { at, version }) = listed.map_err(refused)?;
            let all = if selector.is_empty() { nodes.len() } else { SELECTED_MAX * 10 };
            let names = nodes.iter().map(|node| node.name.to_string()).collect();
            Ok(SelectedNodes { names, all, at, version, nodes: Some(nodes) })
        }
        NodeSelection::Named(names) => Ok(SelectedNodes {
            names: names.clone(),
            all: usize::MAX,
            at: None,
            version: String::new(),
            nodes: None,
        }),
        NodeSelection::Reserved | NodeSelection::ReservedWith(_) => {
            reserved(session, &selection.query()).await.map_err(refused)
        }
    }
}

fn no_pods(error: ApiError) -> Failure {
    error.into_failure("list pods", "get,list pods (all namespaces)")
}

fn refused(error: ApiError) -> Failure {
    error.into_failure("list nodes", "get,list nodes (cluster scope)")
}

/// Reads the selected nodes: one by one, or with one list if they are many.
async fn nodes(
    session: &Session,
    selection: &NodeSelection,
    selected: &SelectedNodes,
) -> Result<(Vec<Node>, Option<Timestamp>), Failure> {
    if selected.are_few() {
        let are_typed = matches!(selection, NodeSelection::Named(_));
        return per_node::nodes(session, &selected.names, are_typed, &selected.version).await;
    }
    let listed = list(session, NODES, &selection.query(), JSON, api::node::node).await;
    let (mut nodes, ListMeta { at, .. }) = listed.map_err(refused)?;
    let wanted: BTreeSet<&str> = selected.names.iter().map(String::as_str).collect();
    nodes.retain(|node| wanted.contains(node.name.as_str()));
    Ok((nodes, at))
}

async fn reserved(session: &Session, query: &str) -> Result<SelectedNodes, ApiError> {
    let (mut names, mut all) = (Vec::new(), 0);
    let each = |json: &str| {
        all += 1;
        // Most nodes have none, and need not be decoded.
        if json.contains(names::NODE_PREFIX) {
            let node = api::node::node(json).map_err(|error| chain(&error))?;
            names.extend((!node.reservations.is_empty()).then(|| node.name.to_string()));
        }
        Ok(())
    };
    let ListMeta { at, version } = calls::list(session, NODES, query, METADATA, each).await?;
    Ok(SelectedNodes { names, all, at, version, nodes: None })
}

/// The error for a node that does not exist.
pub(crate) fn no_node(name: &str) -> Failure {
    Failure::new(format!("Error from server (NotFound): nodes {name:?} not found"))
        .hint("kubectl reserve nodes lists them")
}

/// Reads the pods on these nodes: node by node, or with one list if the nodes are many.
async fn pods(session: &Session, selected: &SelectedNodes) -> Result<Vec<Pod>, ApiError> {
    if selected.are_few() {
        return per_node::pods(session, &selected.names).await;
    }
    let query = format!("fieldSelector=spec.nodeName%21%3D%2C{LIVE}");
    Ok(list(session, PODS, &query, JSON, api::pod::pod).await?.0)
}

impl SelectedNodes {
    /// Whether the nodes are so few that one request for each costs less than a list.
    fn are_few(&self) -> bool {
        self.names.len() <= FEW || self.names.len() <= self.all / 10
    }
}
