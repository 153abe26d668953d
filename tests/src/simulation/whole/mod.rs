//! Tier 2: the whole product in one thread: two real daemons with leader election, the real command, the real client and its
//! watches, over the sandbox, with faults in between.
//!
//! `record` records what the cluster stores, `user_api` is the API server for one user, `connection` is a client's connection to
//! it, `watch_stream` the watches on it, and `fault_injector` the faults. `sim` puts them together; `plans` breaks each flow at
//! each of its writes, `multi_fault_plans` has plans with several faults, `random_run` makes a random history from a seed. `judge`
//! checks the rules of `crate::history`.
//!
//! Nothing reaches or leaves a process that is paused, but its own timers go on. A request whose caller goes away arrives at that
//! moment or never: no client could notice one that arrives later.

mod actors;
mod comparison;
mod connection;
mod fault_injector;
mod final_state;
mod flows;
mod judge;
mod multi_fault_plans;
mod plans;
mod random_run;
mod record;
mod scenario;
mod sim;
mod tenants;
mod user_api;
mod watch_stream;

pub(super) use judge::RULES;
pub use plans::plans;

use super::history_log::HistoryLog;
use super::seeds::Outcome;
use crate::history::Counts;
use fault_injector::PlannedFault;
use sim::Sim;
use std::time::Duration;

/// Simulates one seed.
pub fn simulate(seed: u64, lines: HistoryLog) -> Outcome {
    run_simulation(seed, None, lines, random_run::unseen(seed), async |sim| random_run::run(sim, seed).await)
}

/// Runs one simulation: one thread, one runtime, virtual time only.
#[expect(
    clippy::disallowed_methods,
    reason = "a simulation has several tasks, all of them on its own thread"
)]
fn run_simulation(
    seed: u64,
    plan: Option<PlannedFault>,
    lines: HistoryLog,
    unseen: Duration,
    run: impl AsyncFnOnce(&Sim),
) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let (broken, counts) = (Some(format!("start: {error}")), Counts::default());
            return Outcome { history: lines, broken, counts };
        }
    };
    let max_lines = lines.max_lines();
    // The futures of commands are not Send.
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let sim = Sim::new(seed, plan, HistoryLog::new(usize::MAX));
        let tasks = [
            tokio::spawn(sim.clone().run_controllers()),
            tokio::spawn(sim.clone().keep_daemon(0)),
            tokio::spawn(sim.clone().keep_daemon(1)),
        ];
        run(&sim).await;
        if tasks.iter().any(tokio::task::JoinHandle::is_finished) {
            sim.record.fail("a daemon or the cluster panicked".to_owned());
        }
        judge::judge(&sim, &sim.check_settings(unseen), max_lines)
    })
}
