//! Tier 1: the daemon's `handle` and the command's flows, without client or JSON, over a small model of the API server.
//!
//! [`simulate`] runs a seed, [`plans()`] the plans. `sim` has the queue of events; `api` is the model of the API server, `calls`
//! and `server` carry requests to it, `answers` and `command` handle what comes back. `daemon`, `leases` and `watches` are the
//! daemons, `actors`, `writers`, `verbs`, `controllers`, `scenario` and `foreign` everything else that acts. `rules` checks each
//! write, `end` the state after the faults.

mod actors;
mod answers;
mod api;
mod calls;
mod command;
mod command_reads;
mod command_requests;
mod comparison;
mod controllers;
mod daemon;
mod end;
mod evictions;
mod faults;
mod foreign;
mod knowledge;
mod leases;
mod multi_fault_plans;
mod patch;
mod plans;
mod rules;
mod scenario;
mod server;
mod sim;
mod verbs;
mod watches;
mod writers;

pub(super) use rules::RULES;

use super::HistoryLog;
use super::ports::ports;
use super::seeds::Outcome;
use actors::{ACTIVITY_BITS, FOREIGN_OWNERS, PORTS};
use common::api::names::SCHEDULER_NAME;
use common::model::OwnerKind;
use fastrand::Rng;
use faults::Faults;
use scenario::{Scenario, template, with_ports};
use sim::{Action, Sim};
use std::time::Duration;

/// Simulates one seed.
pub fn simulate(seed: u64, history: HistoryLog) -> Outcome {
    let mut rng = Rng::with_seed(seed);
    let quiet = Duration::from_secs(rng.u64(20..100));
    let is_calm = rng.u32(0..5) == 0;
    let faults = if rng.u32(0..8) == 0 { Faults::none() } else { Faults::drawn(&mut rng, quiet) };
    let scenario = Scenario {
        activity_end: quiet,
        grace: Duration::from_secs(rng.u64(1..10)),
        budget_blocks: if rng.bool() { 0 } else { rng.u32(3..20) },
        automatic_max: if rng.u32(0..6) == 0 { 2 } else { 100 },
        has_short_reservations: rng.u32(0..4) == 0,
        is_elected: rng.u32(0..4) > 0,
        fence_lag: Duration::from_millis([0, 0, 0, 1_000, 5_000][rng.usize(0..5)]),
        activities: if is_calm { 0 } else { rng.u32(..) & rng.u32(..) | 1 << rng.u32(1..ACTIVITY_BITS) },
        ..Scenario::default()
    };
    let mut sim = Sim::new(rng, faults, scenario, history);
    sim.set_up();
    sim.after(Duration::from_secs(6), Action::Act);
    sim.after(Duration::from_secs(4), Action::Fail);
    sim.settle();
    outcome(sim)
}

fn outcome(sim: Sim) -> Outcome {
    Outcome { broken: sim.api.rules.broken, history: sim.api.history, counts: sim.api.rules.counts }
}

/// Simulates the plans whose name contains `part`.
pub fn plans(part: &str) -> Vec<(String, Outcome)> {
    plans::all().into_iter().filter(|(name, _)| name.contains(part)).collect()
}

impl Sim {
    /// Makes nodes, more pods than they have room for, and two daemons.
    fn set_up(&mut self) {
        self.api.rules.schedulers.insert(SCHEDULER_NAME.to_owned());
        self.api.rules.is_elected = self.scenario.is_elected;
        let nodes = self.rng.u32(2..5);
        for node in 0..nodes {
            self.add_node(&format!("n{node}"), 4);
        }
        let keep = self.some_keep();
        let (web, db) = (self.rng.u32(1..4), self.rng.u32(0..3));
        let deployment = self.add_workload(OwnerKind::Deployment, "web", web, None, keep);
        let set = self.add_workload(OwnerKind::ReplicaSet, "web-1", web, Some(&deployment), None);
        let mut like = template(self.rng.usize(0..3), "web", 0, true);
        if self.scenario.activities & PORTS != 0 {
            like = with_ports(&like, ports(self.rng.u16(5..60)));
        }
        self.scenario.templates.insert(set.uid, like);
        if db > 0 {
            let keep = self.some_keep();
            let set = self.add_workload(OwnerKind::StatefulSet, "db", db, None, keep);
            let like = template(self.rng.usize(0..3), "db", 0, true);
            self.scenario.templates.insert(set.uid, like);
        }
        if self.rng.bool() {
            let like = template(self.rng.usize(0..3), "bare", 0, true);
            self.make_pod(&like, "bare", None);
        }
        if self.scenario.activities & FOREIGN_OWNERS != 0 {
            self.add_foreign_owner();
        }
        // As many as fit, and a few that wait for room.
        let rivals = nodes * 4 + self.rng.u32(0..4);
        let rival = self.add_workload(OwnerKind::ReplicaSet, "rival", rivals, None, None);
        let like = template(self.rng.usize(0..2), "rival", 0, true);
        self.scenario.templates.insert(rival.uid, like);
        for (index, name) in ["one", "two"].into_iter().enumerate() {
            self.daemons.push(daemon::SimDaemon::new(name));
            let pause = self.millis(1..2_000);
            self.after(pause, Action::Start(index));
        }
    }
}
