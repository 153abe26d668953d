//! Lists everything from the API server: all kinds concurrently, each in pages that are dropped once they are decoded.

use super::progress::line;
use super::{ClusterData, ClusterDataBuilder, Depth, Resource};
use crate::api::{self as calls, ApiError, JSON};
use crate::clock::local_time;
use crate::connect::Session;
use crate::error::Failure;
use crate::reader::{escaped, readable, served};
use crate::replicas;
use crate::ui::Ui;
use crate::ui::progress::{Progress, ProgressFallback};
use futures::future::try_join_all;
use jiff::Timestamp;
use std::cell::RefCell;

/// Lists everything that decisions depend on; at [`Depth::Reasons`] also what explains them. A kind that the caller may not list
/// is no error: it is in [`ClusterData::unreadable`].
pub(crate) async fn read(
    session: &Session,
    ui: &Ui,
    depth: Depth,
    builder: ClusterDataBuilder,
) -> Result<ClusterData, Failure> {
    let builder = RefCell::new(builder);
    let progress = ui.spinner("reading the cluster", ProgressFallback::Nothing);
    let all = Resource::all(depth)
        .into_iter()
        .map(|resource| list_kind(session, resource, depth, &builder, &progress));
    let times = try_join_all(all).await?;
    drop(progress);
    let now = times.into_iter().flatten().max().unwrap_or_else(local_time);
    Ok(builder.into_inner().build(now, &session.namespace))
}

/// Lists all objects of one kind; if the caller may not list all namespaces, those in the caller's namespace. Returns the
/// server's time.
async fn list_kind(
    session: &Session,
    resource: Resource,
    depth: Depth,
    builder: &RefCell<ClusterDataBuilder>,
    progress: &Progress,
) -> Result<Option<Timestamp>, Failure> {
    let Some(everywhere) = resource.path() else { return daemon(session, builder).await };
    let listed = list(session, resource, &everywhere, depth, builder, progress).await;
    if let Some(at) = settle(resource, listed)? {
        return Ok(at);
    }
    builder.borrow_mut().add_unreadable(resource).map_err(Failure::new)?;
    let Some(here) = resource.path_in(&session.namespace) else { return Ok(None) };
    let listed = list(session, resource, &here, depth, builder, progress).await;
    let at = settle(resource, listed)?;
    builder.borrow_mut().has_own_pods |= resource == Resource::Pods && at.is_some();
    Ok(at.flatten())
}

/// Reads the Leases of the daemon's replicas. Returns the server's time.
async fn daemon(
    session: &Session,
    builder: &RefCell<ClusterDataBuilder>,
) -> Result<Option<Timestamp>, Failure> {
    let read = replicas::read(session).await;
    let read = read.map_err(|error| error.into_failure("list leases", &replicas::right(&session.daemon)))?;
    let mut builder = builder.borrow_mut();
    if read.is_hidden {
        builder.add_unreadable(Resource::Replicas).map_err(Failure::new)?;
        return Ok(None);
    }
    let mut leases = read.leases.iter();
    leases.try_for_each(|json| builder.add(Resource::Replicas, json)).map_err(Failure::new)?;
    Ok(Some(read.now))
}

async fn list(
    session: &Session,
    resource: Resource,
    path: &str,
    depth: Depth,
    builder: &RefCell<ClusterDataBuilder>,
    progress: &Progress,
) -> Result<Option<Timestamp>, ApiError> {
    let is_counted = matches!(resource, Resource::Pods | Resource::Nodes);
    let each = |json: &str| {
        let mut builder = builder.borrow_mut();
        builder.add(resource, json)?;
        let (nodes, pods) = builder.counts;
        if is_counted && (nodes + pods) % 500 == 1 {
            progress.message(&line(nodes, pods));
        }
        Ok(())
    };
    Ok(calls::list(session, path, &resource.query(), resource.accept(depth), each).await?.at)
}

/// The server's time of a list; `None` if the caller may not list the kind. A kind that this cluster does not serve has no objects;
/// every API server serves pods and nodes, so that a 404 about them is an error.
fn settle(
    resource: Resource,
    listed: Result<Option<Timestamp>, ApiError>,
) -> Result<Option<Option<Timestamp>>, Failure> {
    let what = format!("list {}", resource.name());
    let listed = match resource {
        Resource::Pods | Resource::Nodes => readable(listed),
        _ => readable(served(listed)).map(|listed| listed.map(Option::flatten)),
    };
    listed.map_err(|error| error.into_failure(&what, &what))
}

/// Reads at most 100 events that match a field selector, in one namespace or in all. Returns false if the caller may not list
/// events there.
pub(crate) async fn events(
    session: &Session,
    data: &mut ClusterData,
    namespace: Option<&str>,
    selector: &str,
) -> Result<bool, Failure> {
    let path = match namespace {
        Some(namespace) => format!("/api/v1/namespaces/{namespace}/events"),
        None => "/api/v1/events".into(),
    };
    let query = format!("{path}?limit=100&fieldSelector={}", escaped(selector));
    let answer = readable(calls::get(session, &query, JSON).await);
    let answer = answer.map_err(|error| error.into_failure("list events", "list events"))?;
    let Some(answer) = answer else { return Ok(false) };
    let page = common::api::list::page(&answer.text);
    let page = page.map_err(|error| calls::broken(error).into_failure("list events", ""))?;
    for json in page.items {
        data.event(json)?;
    }
    Ok(true)
}
