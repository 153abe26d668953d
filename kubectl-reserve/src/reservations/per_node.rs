//! Reads nodes and their pods with one request per node: in a large cluster only a few nodes have reservations.
//!
//! The first request reads the newest state. The others ask for a state that is not older (`resourceVersion`), which the server
//! answers from its cache.

use super::read::no_node;
use crate::api::{self as calls, ApiError, ApiResponse, JSON, broken};
use crate::connect::Session;
use crate::error::Failure;
use crate::reader::{LIVE, NODES, PARALLEL, PODS, existing, on_node};
use common::api;
use common::api::list::page;
use common::model::{Node, Pod};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use jiff::Timestamp;

/// The status of a server whose cache has not reached the requested version yet.
const TOO_NEW: u16 = 504;

/// Reads nodes, not older than `version`. A node that is gone is an error only if the user named it.
pub(super) async fn nodes(
    session: &Session,
    names: &[String],
    are_typed: bool,
    version: &str,
) -> Result<(Vec<Node>, Option<Timestamp>), Failure> {
    let refused = |error: ApiError| error.into_failure("read the node", "get nodes (cluster scope)");
    let read = async |name: &String| {
        let answer = not_older(session, &format!("{NODES}/{name}?"), version, "").await;
        match existing(answer) {
            Ok(None) if are_typed => Err(no_node(name)),
            Ok(None) => Ok(None),
            Err(error) => Err(refused(error)),
            Ok(Some(answer)) => {
                let node = api::node::node(&answer.text).map_err(|error| refused(broken(error)))?;
                Ok(Some((node, answer.at)))
            }
        }
    };
    let found = stream::iter(names).map(read).buffered(PARALLEL).try_collect::<Vec<_>>().await?;
    let found: Vec<(Node, Option<Timestamp>)> = found.into_iter().flatten().collect();
    let at = found.iter().find_map(|(_, at)| *at);
    Ok((found.into_iter().map(|(node, _)| node).collect(), at))
}

/// Reads the pods on these nodes.
pub(super) async fn pods(session: &Session, names: &[String]) -> Result<Vec<Pod>, ApiError> {
    let Some((first, rest)) = names.split_first() else { return Ok(Vec::new()) };
    let (mut live, version) = pods_on(session, first, "").await?;
    let read = async |name: &String| pods_on(session, name, &version).await;
    let read = stream::iter(rest).map(read).buffered(PARALLEL).try_collect::<Vec<_>>().await?;
    live.extend(read.into_iter().flat_map(|(pods, _)| pods));
    Ok(live)
}

/// The pods on one node, which fit into one page, and the version of the list.
async fn pods_on(session: &Session, node: &str, version: &str) -> Result<(Vec<Pod>, String), ApiError> {
    let path = format!("{PODS}?{}%2C{LIVE}&", on_node(node));
    let answer = not_older(session, &path, version, "&resourceVersionMatch=NotOlderThan").await?;
    let page = page(&answer.text).map_err(broken)?;
    let pods = page.items.iter().map(|json| api::pod::pod(json)).collect::<Result<_, _>>();
    Ok((pods.map_err(broken)?, page.resource_version.into_owned()))
}

/// A state that is not older than `version`; the newest one if `version` is empty, or if the server's cache has not reached it.
async fn not_older(
    session: &Session,
    path: &str,
    version: &str,
    rule: &str,
) -> Result<ApiResponse, ApiError> {
    if version.is_empty() {
        return calls::get(session, path, JSON).await;
    }
    match calls::get(session, &format!("{path}resourceVersion={version}{rule}"), JSON).await {
        Err(error) if error.code() == Some(TOO_NEW) => calls::get(session, path, JSON).await,
        answer => answer,
    }
}
