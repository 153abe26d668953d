//! Plans in which several things go wrong, one after the other: what a fault at one write of a flow does not bring about. Each is
//! what it takes to see one of the bugs in `tests/bugs`.

use super::flows::{Flow, LIFE, delete, give};
use super::lived;
use super::world::{DAEMONS, World, user};
use crate::simulation::History;
use crate::simulation::history::SHORT;
use crate::simulation::seeds::{Outcome, caught};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long whatever happened may not be heard of by those who are not told to be behind.
const UNSEEN: Duration = Duration::from_secs(3);
/// How long an API server is behind: longer than it takes until somebody leads again and has placed everybody.
const BEHIND: Duration = Duration::from_secs(40);

const OLD_LIST: &str = "old-list";

/// Lives through those that are wanted; of the one that is called `part` all is kept.
pub(super) fn all(part: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<(String, Outcome)> {
    if !is_wanted(OLD_LIST) {
        return Vec::new();
    }
    let lines = History::new(if part == OLD_LIST { usize::MAX } else { SHORT });
    let outcome = caught(|| lived(1, None, lines, UNSEEN, old_list));
    vec![(OLD_LIST.to_owned(), outcome)]
}

/// Every replica has seen a reservation. Then both restart, and reach an API server that has not heard of it yet, at the moment
/// at which the pod is deleted whose room it keeps.
async fn old_list(world: &World) {
    let web = Flow::Add.settle(world).await;
    let Some((name, _)) = world.pods_of("web").into_iter().next() else {
        return world.record.broke("nothing runs".to_owned());
    };
    let before = Instant::now();
    sleep(UNSEEN).await;
    if !give(world, &format!("add --pod {name} --ttl=60s")).await.is_done {
        world.record.broke("I19: add did not succeed".to_owned());
    }
    sleep(UNSEEN).await;
    for (index, replica) in DAEMONS.into_iter().enumerate() {
        world.weather.fall_behind(before, &user(replica), "nodes", BEHIND);
        world.kill_daemon(index);
    }
    delete(world, &name);
    sleep(LIFE).await;
    Flow::Add.check(world, &web);
}
