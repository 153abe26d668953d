//! `kubectl reserve status`: the replicas of the daemon, which schedulers enforce reservations, what is reserved, recent problems.

use super::Context;
use super::install::rollout::why_not_ready;
use crate::changes::Changes;
use crate::cli;
use crate::cluster_data::{self, ClusterData, ClusterDataBuilder, Depth};
use crate::connect::Session;
use crate::error::Failure;
use crate::print;
use crate::reader::{NODES, PODS, readable};
use crate::render::status::{Installation, StatusReport};
use crate::replicas;
use crate::ui::redraw::Redraw;
use common::api::names;
use std::time::Duration;

/// Leases are not watched, because they change every few seconds: whether one has lapsed is looked for as often as it can lapse.
const LEASE: Duration = Duration::from_secs(15);

pub(crate) async fn run(args: &cli::Status, context: &Context) -> Result<(), Failure> {
    if !args.watch {
        return print::print(&args.print, &read(context).await?.1);
    }
    let (mut changes, mut screen) =
        (Changes::begin(&context.session, &[NODES, PODS]).await?, Redraw::default());
    loop {
        screen.show(&context.ui, print::text(&args.print, &read(context).await?.1)?)?;
        changes.next(Some(LEASE)).await?;
    }
}

/// Reads the cluster, and everything else that the status shows: the daemon's recent events, the leader, and if no replica is live,
/// whether the daemon is installed.
pub(crate) async fn read(context: &Context) -> Result<(ClusterData, StatusReport), Failure> {
    let session = &context.session;
    let mut data =
        cluster_data::read(session, &context.ui, Depth::Decisions, ClusterDataBuilder::default()).await?;
    let selector = format!("reportingComponent={}", names::AUTOMATIC);
    if !cluster_data::events(session, &mut data, None, &selector).await? {
        data.unreadable.push(cluster_data::Resource::Events);
    }
    let leader = {
        let all: Vec<_> = data.cluster.replicas().iter().collect();
        replicas::leader(session, &all).await
    };
    let mut status = StatusReport::of(&mut data, leader.as_deref());
    if status.live().next().is_none() {
        status.installation = installation(session).await?;
    }
    Ok((data, status))
}

async fn installation(session: &Session) -> Result<Installation, Failure> {
    for namespace in session.daemon.iter() {
        let why = readable(why_not_ready(session, namespace).await);
        match why
            .map_err(|error| error.into_failure("read the daemon's Deployment", "get deployments.apps"))?
        {
            None => return Ok(Installation::Unknown),
            Some(Some(why)) => return Ok(Installation::NotReady { namespace: namespace.to_owned(), why }),
            Some(None) => {}
        }
    }
    Ok(Installation::Missing)
}
