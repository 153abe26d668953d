//! Tier 2: the whole product in one thread. Two real daemons with leader election, the real command, the real client and
//! its watches over the sandbox, with everything in between that can go wrong.
//!
//! `record` writes down what the cluster stores, `door` is the cluster's side of a client, `line` the way there, `watched` that of
//! watches, and `weather` what happens on it. `world` puts them together; `plans` breaks each flow at each of its writes, `scenes` are plans of
//! their own, `story` draws a life from a seed. `judge` feeds it all to the rules of `crate::history`.
//!
//! A process that pauses is one that nothing reaches and nothing leaves: its own timers go on. A request whose caller
//! goes away arrives at that moment or never; one that arrives later would be one that no client can know of.

mod compared;
mod door;
mod flows;
mod judge;
mod line;
mod people;
mod plans;
mod record;
mod scenario;
mod scenes;
mod settled;
mod story;
mod tenants;
mod watched;
mod weather;
mod world;

pub(super) use judge::RULES;
pub use plans::plans;

use super::history::History;
use super::seeds::Outcome;
use crate::history::Counts;
use std::time::Duration;
use weather::Plan;
use world::World;

/// Lives through one seed.
pub fn simulate(seed: u64, lines: History) -> Outcome {
    lived(seed, None, lines, story::unseen(seed), async |world| story::live(world, seed).await)
}

/// Lives through a story in a world of its own: one thread, one runtime, no time but that of the story.
#[expect(clippy::disallowed_methods, reason = "several live in one world; all of them on its thread")]
fn lived(
    seed: u64,
    plan: Option<Plan>,
    lines: History,
    unseen: Duration,
    story: impl AsyncFnOnce(&World),
) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let (broken, counts) = (Some(format!("start: {error}")), Counts::default());
            return Outcome { history: lines, broken, counts };
        }
    };
    let kept = lines.kept();
    // Commands stay on their thread anyhow.
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let world = World::new(seed, plan, History::new(usize::MAX));
        let tasks = [
            tokio::spawn(world.clone().live()),
            tokio::spawn(world.clone().keep_daemon(0)),
            tokio::spawn(world.clone().keep_daemon(1)),
        ];
        story(&world).await;
        if tasks.iter().any(tokio::task::JoinHandle::is_finished) {
            world.record.broke("a daemon or the cluster panicked".to_owned());
        }
        judge::judge(&world, &world.rules(unseen), kept)
    })
}
