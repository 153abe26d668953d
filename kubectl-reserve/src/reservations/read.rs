//! Reading no more than reservations need: which nodes have any, those nodes, their pods, and the workloads that own them.

use super::{each, owners};
use crate::api::{self as calls, ApiError, JSON, Listed, METADATA};
use crate::connect::Session;
use crate::error::Failure;
use crate::world::World;
use common::api::{self, DecodeError, names};
use common::cluster::{Cluster, Event, Seen, Snapshot};
use common::model::chain::chain;
use common::model::{Node, Pod, PodKey};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// Requests of one sort under way at once.
pub(super) const PARALLEL: usize = 16;

/// So few nodes are always asked for one by one.
const FEW: usize = 32;

/// More nodes than this are not asked for one by one, however many there are in all.
const SELECTED_MAX: usize = 200;

pub(super) const LIVE: &str = "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

pub(super) const NODES: &str = "/api/v1/nodes";

pub(super) const PODS: &str = "/api/v1/pods";

/// Which nodes are looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// Those with reservations.
    Reserved,
    /// Those of them that have these labels.
    ReservedWith(String),
    /// These.
    Named(Vec<String>),
    /// Those with these labels; all if it is empty.
    Labelled(String),
}

impl Which {
    /// What the server can tell apart by itself.
    fn query(&self) -> String {
        match self {
            Self::Labelled(selector) | Self::ReservedWith(selector) if !selector.is_empty() => {
                format!("labelSelector={}", escaped(selector))
            }
            _ => String::new(),
        }
    }
}

/// Which pods are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pods {
    /// Those on the nodes.
    OnNodes,
    /// Those, if the caller may read them.
    IfAllowed,
    /// Those on the nodes and those that wait for one.
    AndWaiting,
}

/// What was read.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) cluster: Cluster,
    /// The API server's time.
    pub(crate) now: Timestamp,
    /// Whether some workloads could not be read, so that an owner may exist although it was not found.
    pub(crate) is_partial: bool,
    /// Whether pods were read: without them nobody knows who sits where.
    pub(crate) has_pods: bool,
    /// The pods that wait for a node, if they were read.
    pub(crate) waiting: Vec<PodKey>,
}

impl View {
    /// What a saved snapshot says.
    pub(crate) fn of(world: World) -> Self {
        let World { cluster, now, is_partial, .. } = world;
        Self { cluster, now, is_partial, has_pods: true, waiting: Vec::new() }
    }

    /// What was read, as of its moment.
    pub(crate) fn snapshot(&mut self) -> Snapshot<'_> {
        self.cluster.snapshot(self.now)
    }
}

/// Reads what is reserved on the nodes.
pub(crate) async fn read(session: &Session, which: &Which, wish: Pods) -> Result<View, Failure> {
    let mut named = named(session, which).await?;
    let known = named.nodes.take();
    let nodes = async {
        match known {
            Some(nodes) => Ok((nodes, named.at)),
            None => nodes(session, which, &named).await,
        }
    };
    let (nodes, pods) = futures::join!(nodes, pods(session, &named));
    let (nodes, at) = nodes?;
    let now = named.at.or(at).unwrap_or_else(local_time);
    let mut cluster = Cluster::default();
    cluster.apply(Event::Nodes(Seen::Relisted(nodes)));
    let (mut live, mut has_pods) = match pods {
        Ok(live) => (live, true),
        Err(error) if error.code() == Some(403) && wish == Pods::IfAllowed => (Vec::new(), false),
        Err(error) => return Err(error.into_failure("list pods", "get,list pods (all namespaces)")),
    };
    let mut waiting = Vec::new();
    if wish == Pods::AndWaiting {
        let query = format!("fieldSelector=spec.nodeName%3D%2C{LIVE}");
        match list(session, PODS, &query, api::pod::pod).await {
            Ok((pods, _)) => {
                waiting.extend(pods.iter().filter(|pod| pod.is_waiting()).map(|pod| pod.key.clone()));
                live.extend(pods);
            }
            Err(error) if error.code() == Some(403) => has_pods = false,
            Err(error) => return Err(error.into_failure("list pods", "get,list pods (all namespaces)")),
        }
    }
    cluster.apply(Event::Pods(Seen::Relisted(live)));
    let is_partial = owners::read(session, &mut cluster).await?;
    Ok(View { cluster, now, is_partial, has_pods, waiting })
}

/// The nodes that are meant, by name.
struct Named {
    names: Vec<String>,
    /// How many there are in all.
    all: usize,
    /// When that was.
    at: Option<Timestamp>,
    /// The version of the list, if there was one.
    version: String,
    /// Themselves, if they were read already.
    nodes: Option<Vec<Node>>,
}

/// Which nodes are meant.
async fn named(session: &Session, which: &Which) -> Result<Named, Failure> {
    match which {
        Which::Labelled(selector) => {
            let listed = list(session, NODES, &which.query(), api::node::node).await;
            let (nodes, Listed { at, version }) = listed.map_err(refused)?;
            let all = if selector.is_empty() { nodes.len() } else { SELECTED_MAX * 10 };
            let names = nodes.iter().map(|node| node.name.to_string()).collect();
            Ok(Named { names, all, at, version, nodes: Some(nodes) })
        }
        Which::Named(names) => {
            Ok(Named { names: names.clone(), all: usize::MAX, at: None, version: String::new(), nodes: None })
        }
        Which::Reserved | Which::ReservedWith(_) => reserved(session, &which.query()).await.map_err(refused),
    }
}

fn refused(error: ApiError) -> Failure {
    error.into_failure("list nodes", "get,list nodes (cluster scope)")
}

/// The nodes themselves: one by one, or all at once when that is most of them.
async fn nodes(
    session: &Session,
    which: &Which,
    named: &Named,
) -> Result<(Vec<Node>, Option<Timestamp>), Failure> {
    if named.are_few() {
        let are_typed = matches!(which, Which::Named(_));
        return each::nodes(session, &named.names, are_typed, &named.version).await;
    }
    let listed = list(session, NODES, &which.query(), api::node::node).await;
    let (mut nodes, Listed { at, .. }) = listed.map_err(refused)?;
    let wanted: BTreeSet<&str> = named.names.iter().map(String::as_str).collect();
    nodes.retain(|node| wanted.contains(node.name.as_str()));
    Ok((nodes, at))
}

/// The nodes with annotations of ours.
async fn reserved(session: &Session, query: &str) -> Result<Named, ApiError> {
    let (mut names, mut all) = (Vec::new(), 0);
    let each = |json: &str| {
        all += 1;
        // Most nodes have none, and need not be decoded to tell.
        if json.contains(names::NODE_PREFIX) {
            let node = api::node::node(json).map_err(|error| chain(&error))?;
            names.extend((!node.reservations.is_empty()).then(|| node.name.to_string()));
        }
        Ok(())
    };
    let Listed { at, version } = calls::list(session, NODES, query, METADATA, each).await?;
    Ok(Named { names, all, at, version, nodes: None })
}

/// What is said about a node that is not there.
pub(crate) fn no_node(name: &str) -> Failure {
    Failure::new(format!("Error from server (NotFound): nodes {name:?} not found"))
        .hint("kubectl reserve nodes lists them")
}

/// The pods on these nodes: node by node, or all at once when that is most of them.
async fn pods(session: &Session, named: &Named) -> Result<Vec<Pod>, ApiError> {
    if named.are_few() {
        return each::pods(session, &named.names).await;
    }
    let query = format!("fieldSelector=spec.nodeName%21%3D%2C{LIVE}");
    Ok(list(session, PODS, &query, api::pod::pod).await?.0)
}

impl Named {
    /// Whether they are so few that each is better asked for by itself.
    fn are_few(&self) -> bool {
        self.names.len() <= FEW || self.names.len() <= self.all / 10
    }
}

async fn list<T>(
    session: &Session,
    path: &str,
    query: &str,
    decode: fn(&str) -> Result<T, DecodeError>,
) -> Result<(Vec<T>, Listed), ApiError> {
    let mut live = Vec::new();
    let each = |json: &str| {
        live.push(decode(json).map_err(|error| chain(&error))?);
        Ok(())
    };
    let listed = calls::list(session, path, query, JSON, each).await?;
    Ok((live, listed))
}

/// Text as part of a query.
fn escaped(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let escape = |byte: u8| {
        if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(escape).collect()
}

/// For a server that sends no date, which the API's own never is.
#[expect(clippy::disallowed_methods, reason = "the command is the outermost layer")]
pub(crate) fn local_time() -> Timestamp {
    Timestamp::now()
}
