//! The cluster as the caller may see it: everything listed once, into the same belief that the daemon keeps.

use crate::api::{self as calls, ApiError, JSON};
use crate::connect::Session;
use crate::error::Failure;
use crate::ui::printer;
use common::api::{self, DecodeError};
use common::cluster::{Cluster, Event, Seen};
use common::model::OtherKind;
use common::model::chain::chain;
use common::model::owner::OwnerKind;
use futures::future::try_join_all;
use jiff::Timestamp;

/// Pods that have not ended: `status.phase!=Succeeded,status.phase!=Failed`.
const LIVE_PODS: &str = "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

/// Metadata alone: whole workloads are much larger and of most nothing else is read.
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// What was read, and when.
pub(crate) struct World {
    pub(crate) cluster: Cluster,
    /// The API server's time when the reading began.
    pub(crate) now: Timestamp,
    /// Whether some workloads could not be read, so that an owner may exist although it was not found.
    pub(crate) is_partial: bool,
}

/// Reads pods, nodes, workloads and everything else that decisions read. Pods first: a pod that leaves meanwhile is
/// still there, and its room not yet free.
pub(crate) async fn read(session: &Session) -> Result<World, Failure> {
    let mut cluster = Cluster::default();
    let pods = list(session, "/api/v1/pods", LIVE_PODS, api::pod::pod).await;
    let (pods, now) =
        pods.map_err(|error| error.into_failure("list pods", "get and list pods in all namespaces"))?;
    cluster.apply(Event::Pods(Seen::Relisted(pods)));
    let nodes = list(session, "/api/v1/nodes", "", api::node::node).await;
    let (nodes, _) = nodes.map_err(|error| error.into_failure("list nodes", "list nodes"))?;
    cluster.apply(Event::Nodes(Seen::Relisted(nodes)));
    let mut is_partial = false;
    let workloads = try_join_all(OwnerKind::ALL.map(|kind| workloads(session, kind)));
    let others = try_join_all(OtherKind::ALL.map(|kind| others(session, kind)));
    let (workloads, others) = futures::future::try_join(workloads, others).await?;
    let events: Vec<Event> = workloads.into_iter().chain(others).collect();
    warn(&events);
    for event in events {
        is_partial |= matches!(event, Event::Unreadable(_));
        cluster.apply(event);
    }
    Ok(World { cluster, now: now.unwrap_or_else(local_time), is_partial })
}

/// Workloads of one kind. Without the right to read them the answer is poorer, but there is one.
async fn workloads(session: &Session, kind: OwnerKind) -> Result<Event, Failure> {
    let mut live = Vec::new();
    let each = |json: &str| push(&mut live, api::workload::workload(kind, json));
    let accept = if kind.has_selector() { JSON } else { METADATA };
    match calls::list(session, &kind.path(), "", accept, each).await {
        Ok(_) => Ok(Event::Workloads(kind, Seen::Relisted(live))),
        Err(error) if error.code() == Some(403) => Ok(Event::Unreadable(kind)),
        // An API group that this cluster does not serve has no objects.
        Err(error) if error.code() == Some(404) => Ok(Event::Workloads(kind, Seen::Relisted(Vec::new()))),
        Err(error) => Err(error.into_failure("list workloads", &format!("list {}", kind.plural()))),
    }
}

/// Objects of another kind, under the same terms.
async fn others(session: &Session, kind: OtherKind) -> Result<Event, Failure> {
    let mut live = Vec::new();
    let each = |json: &str| push(&mut live, api::other::other(kind, json));
    match calls::list(session, &kind.path(), "", JSON, each).await {
        Ok(_) => Ok(Event::Others(kind, Seen::Relisted(live))),
        Err(error) if error.code() == Some(403) => Ok(Event::OthersUnreadable(kind)),
        Err(error) if error.code() == Some(404) => Ok(Event::Others(kind, Seen::Relisted(Vec::new()))),
        Err(error) => {
            let what = kind.plural();
            Err(error.into_failure(&format!("list {what}"), &format!("list {what}")))
        }
    }
}

/// Says what the answer lacks because something could not be read.
fn warn(events: &[Event]) {
    let mut missing = Vec::new();
    for event in events {
        match event {
            Event::Unreadable(kind) => {
                let what = kind.plural();
                printer::warn(&format!("cannot list {what}, so pods that belong to them count as strangers"));
            }
            Event::OthersUnreadable(kind) => missing.push(kind.plural()),
            _ => {}
        }
    }
    if !missing.is_empty() {
        printer::warn(&format!("cannot list {}, so it looks as if there were none", missing.join(", ")));
    }
}

async fn list<T>(
    session: &Session,
    path: &str,
    query: &str,
    decode: fn(&str) -> Result<T, DecodeError>,
) -> Result<(Vec<T>, Option<Timestamp>), ApiError> {
    let mut live = Vec::new();
    let at = calls::list(session, path, query, JSON, |json| push(&mut live, decode(json))).await?;
    Ok((live, at))
}

fn push<T>(live: &mut Vec<T>, decoded: Result<T, DecodeError>) -> Result<(), String> {
    live.push(decoded.map_err(|error| chain(&error))?);
    Ok(())
}

/// For a server that sends no date, which the API's own never is.
#[expect(clippy::disallowed_methods, reason = "the command is the outermost layer, and this its only clock")]
pub(crate) fn local_time() -> Timestamp {
    Timestamp::now()
}
