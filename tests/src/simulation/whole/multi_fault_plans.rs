//! Plans with several faults, one after the other: what a single fault at one write of a flow does not cause. Each finds one of the
//! bugs in `tests/bugs`.

use super::flows::{Flow, LIFE, delete, run_command};
use super::run_simulation;
use super::sim::{DAEMONS, Sim, user};
use crate::simulation::HistoryLog;
use crate::simulation::history_log::SHORT;
use crate::simulation::seeds::{Outcome, catch_panic};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long watches may take to deliver an event where no fault delays them.
const UNSEEN: Duration = Duration::from_secs(3);
/// How long the API server's cache is behind: longer than it takes until a daemon leads again and has scheduled all pods.
const BEHIND: Duration = Duration::from_secs(40);

const OLD_LIST: &str = "old-list";

/// Runs the plans for which `is_wanted` is true. The log of the plan with the name `part` is kept completely.
pub(super) fn all(part: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<(String, Outcome)> {
    if !is_wanted(OLD_LIST) {
        return Vec::new();
    }
    let lines = HistoryLog::new(if part == OLD_LIST { usize::MAX } else { SHORT });
    let outcome = catch_panic(|| run_simulation(1, None, lines, UNSEEN, old_list));
    vec![(OLD_LIST.to_owned(), outcome)]
}

/// Every replica has seen a reservation. Then both restart, and list from an API server whose cache does not have the reservation
/// yet, while the replaced pod is deleted.
async fn old_list(sim: &Sim) {
    let web = Flow::Add.settle(sim).await;
    let Some((name, _)) = sim.pods_of("web").into_iter().next() else {
        return sim.record.fail("nothing runs".to_owned());
    };
    let before = Instant::now();
    sleep(UNSEEN).await;
    if !run_command(sim, &format!("add --pod {name} --ttl=60s")).await.is_done {
        sim.record.fail("I19: add did not succeed".to_owned());
    }
    sleep(UNSEEN).await;
    for (index, replica) in DAEMONS.into_iter().enumerate() {
        sim.faults.freeze_since(before, &user(replica), "nodes", BEHIND);
        sim.kill_daemon(index);
    }
    delete(sim, &name);
    sleep(LIFE).await;
    Flow::Add.check(sim, &web);
}
