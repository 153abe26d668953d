//! Reading no more than reservations need: which nodes have any, those nodes, their pods, and the workloads that own them.

use super::owners;
use crate::api::{self as calls, ApiError, JSON};
use crate::connect::Session;
use crate::error::Failure;
use crate::world::World;
use common::api::{self, DecodeError, names};
use common::cluster::{Cluster, Event, Seen, Snapshot};
use common::model::chain::chain;
use common::model::{Node, Pod, PodKey};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use jiff::Timestamp;

/// Metadata alone: of most nodes nothing else is looked at.
pub(super) const METADATA: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// Requests under way at once.
pub(super) const PARALLEL: usize = 8;

/// So few nodes are always asked for one by one.
const FEW: usize = 32;

/// More nodes than this are not asked for one by one, however many there are in all.
const SELECTED_MAX: usize = 200;

const LIVE: &str = "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

pub(super) const NODES: &str = "/api/v1/nodes";

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
    let (nodes, all, now) = nodes(session, which).await?;
    let mut cluster = Cluster::default();
    let names: Vec<String> = nodes.iter().map(|node| node.name.to_string()).collect();
    cluster.apply(Event::Nodes(Seen::Relisted(nodes)));
    let (mut live, mut has_pods) = match pods(session, &names, all).await {
        Ok(live) => (live, true),
        Err(error) if error.code() == Some(403) && wish == Pods::IfAllowed => (Vec::new(), false),
        Err(error) => return Err(error.into_failure("list pods", "get,list pods (all namespaces)")),
    };
    let mut waiting = Vec::new();
    if wish == Pods::AndWaiting {
        let query = format!("fieldSelector=spec.nodeName%3D%2C{LIVE}");
        match list(session, "/api/v1/pods", &query, api::pod::pod).await {
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

/// The nodes, how many there are in all, and when that was.
async fn nodes(session: &Session, which: &Which) -> Result<(Vec<Node>, usize, Timestamp), Failure> {
    let refused = |error: ApiError| error.into_failure("list nodes", "get,list nodes (cluster scope)");
    match which {
        Which::Labelled(selector) => {
            let (nodes, at) =
                list(session, NODES, &labelled(selector), api::node::node).await.map_err(refused)?;
            let all = if selector.is_empty() { nodes.len() } else { SELECTED_MAX * 10 };
            Ok((nodes, all, at.unwrap_or_else(local_time)))
        }
        Which::Named(names) => {
            let (nodes, at) = each_node(session, names, true).await?;
            Ok((nodes, usize::MAX, at.unwrap_or_else(local_time)))
        }
        Which::Reserved => reserved_nodes(session, "").await,
        Which::ReservedWith(selector) => reserved_nodes(session, &labelled(selector)).await,
    }
}

/// A selector as a query; nothing if it selects everything.
fn labelled(selector: &str) -> String {
    if selector.is_empty() { String::new() } else { format!("labelSelector={}", escaped(selector)) }
}

async fn reserved_nodes(session: &Session, query: &str) -> Result<(Vec<Node>, usize, Timestamp), Failure> {
    let refused = |error: ApiError| error.into_failure("list nodes", "get,list nodes (cluster scope)");
    let (names, all, at) = reserved(session, query).await.map_err(refused)?;
    let at = at.unwrap_or_else(local_time);
    if is_few(names.len(), all) {
        return Ok((each_node(session, &names, false).await?.0, all, at));
    }
    let (mut nodes, _) = list(session, NODES, query, api::node::node).await.map_err(refused)?;
    nodes.retain(|node| !node.reservations.is_empty());
    Ok((nodes, all, at))
}

/// The names of the nodes with annotations of ours, how many nodes there are, and when that was.
async fn reserved(
    session: &Session,
    query: &str,
) -> Result<(Vec<String>, usize, Option<Timestamp>), ApiError> {
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
    let at = calls::list(session, NODES, query, METADATA, each).await?;
    Ok((names, all, at))
}

/// Reads nodes one by one. One that is gone is an error only if somebody named it.
async fn each_node(
    session: &Session,
    names: &[String],
    are_named: bool,
) -> Result<(Vec<Node>, Option<Timestamp>), Failure> {
    let read = async |name: &String| {
        let answer = calls::get(session, &format!("{NODES}/{name}"), JSON).await;
        match answer {
            Err(error) if error.code() == Some(404) && !are_named => Ok(None),
            Err(error) if error.code() == Some(404) => Err(no_node(name)),
            Err(error) => Err(error.into_failure("read the node", "get nodes (cluster scope)")),
            Ok(answer) => {
                let node = api::node::node(&answer.text).map_err(|error| Failure::new(chain(&error)))?;
                Ok(Some((node, answer.at)))
            }
        }
    };
    let found = stream::iter(names).map(read).buffered(PARALLEL).try_collect::<Vec<_>>().await?;
    let found: Vec<(Node, Option<Timestamp>)> = found.into_iter().flatten().collect();
    let at = found.iter().find_map(|(_, at)| *at);
    Ok((found.into_iter().map(|(node, _)| node).collect(), at))
}

/// What is said about a node that is not there.
pub(crate) fn no_node(name: &str) -> Failure {
    Failure::new(format!("Error from server (NotFound): nodes {name:?} not found"))
        .hint("kubectl reserve nodes lists them")
}

/// The pods on these nodes: node by node, or all at once when that is most of them.
async fn pods(session: &Session, names: &[String], all: usize) -> Result<Vec<Pod>, ApiError> {
    if is_few(names.len(), all) {
        let read = async |name: &String| {
            let query = format!("fieldSelector=spec.nodeName%3D{name}%2C{LIVE}");
            list(session, "/api/v1/pods", &query, api::pod::pod).await
        };
        let read = stream::iter(names).map(read).buffered(PARALLEL).try_collect::<Vec<_>>().await?;
        return Ok(read.into_iter().flat_map(|(pods, _)| pods).collect());
    }
    let query = format!("fieldSelector=spec.nodeName%21%3D%2C{LIVE}");
    Ok(list(session, "/api/v1/pods", &query, api::pod::pod).await?.0)
}

/// Whether `some` of `all` nodes are so few that each is better asked for by itself.
fn is_few(some: usize, all: usize) -> bool {
    some <= FEW || some <= all / 10
}

async fn list<T>(
    session: &Session,
    path: &str,
    query: &str,
    decode: fn(&str) -> Result<T, DecodeError>,
) -> Result<(Vec<T>, Option<Timestamp>), ApiError> {
    let mut live = Vec::new();
    let each = |json: &str| {
        live.push(decode(json).map_err(|error| chain(&error))?);
        Ok(())
    };
    let at = calls::list(session, path, query, JSON, each).await?;
    Ok((live, at))
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
