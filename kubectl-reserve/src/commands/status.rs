//! `kubectl reserve status`: the replicas of the daemon, which schedulers enforce reservations, what is reserved, recent problems.

use super::Context;
use crate::cli;
use crate::cluster_data::{self, ClusterData, ClusterDataBuilder, Depth};
use crate::error::Failure;
use crate::print::print;
use crate::render::status::StatusReport;
use crate::replicas;
use common::api::names;

pub(crate) async fn run(args: &cli::Status, context: &Context) -> Result<(), Failure> {
    let (mut data, leader) = read(context).await?;
    print(&args.print, &StatusReport::of(&mut data, leader.as_deref()))
}

/// Reads everything that the status shows: the cluster, the daemon's recent events, and the name of the leader.
pub(crate) async fn read(context: &Context) -> Result<(ClusterData, Option<String>), Failure> {
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
    Ok((data, leader))
}
