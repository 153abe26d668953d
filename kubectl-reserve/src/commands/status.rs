//! `kubectl reserve status`: which replicas run, who enforces, what is reserved, what went wrong.

use super::Context;
use crate::cli;
use crate::error::Failure;
use crate::print::print;
use crate::render::status::Status;
use crate::replicas;
use crate::world::{self, Depth, Intake, World};
use common::api::names;

pub(crate) async fn run(args: &cli::Status, context: &Context) -> Result<(), Failure> {
    let (mut world, leader) = read(context).await?;
    print(&args.print, &Status::of(&mut world, leader.as_deref()))
}

/// Reads everything that a status follows from: the world, what the daemon told lately, and who leads.
pub(crate) async fn read(context: &Context) -> Result<(World, Option<String>), Failure> {
    let session = &context.session;
    let mut world = world::read(session, &context.ui, Depth::Decisions, Intake::default()).await?;
    let selector = format!("reportingComponent={}", names::AUTOMATIC);
    if !world::events(session, &mut world, None, &selector).await? {
        world.unreadable.push(world::Resource::Events);
    }
    let leader = {
        let all: Vec<_> = world.cluster.replicas().iter().collect();
        replicas::leader(session, &all).await
    };
    Ok((world, leader))
}
