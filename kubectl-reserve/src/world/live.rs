//! Reading from the API server: all kinds side by side, each in pages that are gone once they are read.

use super::progress::line;
use super::{Depth, Intake, Resource, World};
use crate::api::{self as calls, ApiError, JSON};
use crate::connect::Session;
use crate::error::Failure;
use crate::replicas;
use crate::ui::Ui;
use crate::ui::progress::{Otherwise, Progress};
use futures::future::try_join_all;
use jiff::Timestamp;
use std::cell::RefCell;

/// Reads everything that decisions follow from; at [`Depth::Reasons`] also what explains them. Without the right to read
/// a kind the answer is poorer, but there is one; the world says which.
pub(crate) async fn read(session: &Session, ui: &Ui, depth: Depth, intake: Intake) -> Result<World, Failure> {
    let intake = RefCell::new(intake);
    let progress = ui.spinner("reading the cluster", Otherwise::Nothing);
    let all =
        Resource::all(depth).into_iter().map(|resource| one(session, resource, depth, &intake, &progress));
    let times = try_join_all(all).await?;
    drop(progress);
    let now = times.into_iter().flatten().max().unwrap_or_else(local_time);
    Ok(intake.into_inner().into_world(now, &session.namespace))
}

/// All objects of one kind; of a kind that the caller may not see everywhere, those in the caller's namespace. Returns the
/// server's time.
async fn one(
    session: &Session,
    resource: Resource,
    depth: Depth,
    intake: &RefCell<Intake>,
    progress: &Progress,
) -> Result<Option<Timestamp>, Failure> {
    let Some(everywhere) = resource.path() else { return daemon(session, intake).await };
    match list(session, resource, &everywhere, depth, intake, progress).await {
        Err(error) if error.code() == Some(403) => {}
        other => return settle(resource, other),
    }
    intake.borrow_mut().cannot_read(resource).map_err(Failure::new)?;
    let Some(here) = resource.path_in(&session.namespace) else { return Ok(None) };
    match list(session, resource, &here, depth, intake, progress).await {
        Err(error) if error.code() == Some(403) => Ok(None),
        other => settle(resource, other),
    }
}

/// The Leases of the daemon's replicas.
async fn daemon(session: &Session, intake: &RefCell<Intake>) -> Result<Option<Timestamp>, Failure> {
    let read = replicas::read(session).await;
    let read = read.map_err(|error| error.into_failure("list leases", &replicas::right(&session.daemon)))?;
    let mut intake = intake.borrow_mut();
    if read.is_hidden {
        intake.cannot_read(Resource::Replicas).map_err(Failure::new)?;
        return Ok(None);
    }
    let mut leases = read.leases.iter();
    leases.try_for_each(|json| intake.take(Resource::Replicas, json)).map_err(Failure::new)?;
    Ok(Some(read.now))
}

async fn list(
    session: &Session,
    resource: Resource,
    path: &str,
    depth: Depth,
    intake: &RefCell<Intake>,
    progress: &Progress,
) -> Result<Option<Timestamp>, ApiError> {
    let is_counted = matches!(resource, Resource::Pods | Resource::Nodes);
    let each = |json: &str| {
        let mut intake = intake.borrow_mut();
        intake.take(resource, json)?;
        let (nodes, pods) = intake.counts;
        if is_counted && (nodes + pods) % 500 == 1 {
            progress.message(&line(nodes, pods));
        }
        Ok(())
    };
    Ok(calls::list(session, path, resource.query(), resource.accept(depth), each).await?.at)
}

fn settle(
    resource: Resource,
    outcome: Result<Option<Timestamp>, ApiError>,
) -> Result<Option<Timestamp>, Failure> {
    match outcome {
        Ok(at) => Ok(at),
        // An API group that this cluster does not serve has no objects.
        Err(error) if error.code() == Some(404) => Ok(None),
        Err(error) => {
            let what = resource.name();
            Err(error.into_failure(&format!("list {what}"), &format!("list {what}")))
        }
    }
}

/// Reads events that a field selector names, in one namespace or in all, at most `limit`. Without the right to read them
/// there are none; then the answer is no.
pub(crate) async fn events(
    session: &Session,
    world: &mut World,
    namespace: Option<&str>,
    selector: &str,
) -> Result<bool, Failure> {
    let path = match namespace {
        Some(namespace) => format!("/api/v1/namespaces/{namespace}/events"),
        None => "/api/v1/events".into(),
    };
    let query = format!("{path}?limit=100&fieldSelector={}", crate::names::escaped(selector));
    let answer = match calls::get(session, &query, JSON).await {
        Ok(answer) => answer,
        Err(ApiError::Refused(refused)) if refused.code == 403 => return Ok(false),
        Err(error) => return Err(error.into_failure("list events", "list events")),
    };
    let page = common::api::list::page(&answer.text).map_err(Failure::new)?;
    for json in page.items {
        world.event(json)?;
    }
    Ok(true)
}

/// For a server that sends no date, which the API's own never is.
#[expect(clippy::disallowed_methods, reason = "the command is the outermost layer, and this its only clock")]
fn local_time() -> Timestamp {
    Timestamp::now()
}
