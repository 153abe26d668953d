//! Runs each flow with one fault: each kind of fault at each of its writes.

use super::connection::STALE;
use super::fault_injector::{FAULT_KINDS, FaultKind, PlannedFault};
use super::flows::{FLOWS, Flow};
use super::multi_fault_plans;
use super::run_simulation;
use crate::simulation::HistoryLog;
use crate::simulation::history_log::SHORT;
use crate::simulation::seeds::{Outcome, catch_panic};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// As many threads as the smallest machine that tests run on has cores.
const THREADS: usize = 2;

/// A flow and its fault.
#[derive(Clone)]
struct FlowPlan {
    name: String,
    flow: Flow,
    plan: Option<PlannedFault>,
}

/// The name of a plan, its outcome, and its number of steps (writes to nodes and pods).
type PlanResult = (String, Outcome, u64);

/// Runs the plans whose name contains `part`, or only the one with exactly this name.
pub fn plans(part: &str) -> Vec<(String, Outcome)> {
    let is_asked = |name: &str| part.split_once('/').is_none_or(|(flow, _)| flow == name);
    let flows = FLOWS.into_iter().filter(|(name, _)| is_asked(name));
    let flows = flows.map(|(name, flow)| FlowPlan { name: name.to_owned(), flow, plan: None });
    let flows: Vec<FlowPlan> = flows.collect();
    // A run without a fault counts the steps of each flow.
    let mut results = all(&flows, usize::MAX);
    let mut plans = Vec::new();
    for (flow, (.., steps)) in flows.iter().zip(&results) {
        plans.extend((1..=*steps).flat_map(|step| with_each_fault(flow, step)));
    }
    let is_one = |name: &str| name == part;
    let is_one_only =
        plans.iter().any(|plan| is_one(&plan.name)) || results.iter().any(|(name, ..)| is_one(name));
    let is_wanted = |name: &str| if is_one_only { is_one(name) } else { name.contains(part) };
    plans.retain(|plan| is_wanted(&plan.name));
    results.retain(|(name, ..)| is_wanted(name));
    results.extend(all(&plans, if is_one_only { usize::MAX } else { SHORT }));
    let mut results: Vec<(String, Outcome)> =
        results.into_iter().map(|(name, outcome, _)| (name, outcome)).collect();
    results.extend(multi_fault_plans::all(part, is_wanted));
    results
}

/// A flow with each fault at one of its steps.
fn with_each_fault(flow: &FlowPlan, step: u64) -> impl Iterator<Item = FlowPlan> {
    FAULT_KINDS.into_iter().map(move |(word, fault)| FlowPlan {
        name: format!("{}/{step}/{word}", flow.name),
        plan: Some(PlannedFault { step, fault }),
        flow: flow.flow,
    })
}

/// Runs plans in parallel, and returns the results in their order.
fn all(plans: &[FlowPlan], max_lines: usize) -> Vec<PlanResult> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(planned) = plans.get(index) else { break };
            let (outcome, steps) = one(planned, HistoryLog::new(max_lines));
            let result = (index, (planned.name.clone(), outcome, steps));
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(result);
        }
    };
    std::thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(work))));
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

fn one(planned: &FlowPlan, lines: HistoryLog) -> (Outcome, u64) {
    let mut steps = 0;
    let FlowPlan { flow, plan, .. } = planned;
    let delays_watches = |plan: &PlannedFault| {
        matches!(plan.fault, FaultKind::StaleNodes | FaultKind::StalePods | FaultKind::Skipped)
    };
    let stale = if plan.as_ref().is_some_and(delays_watches) { STALE } else { Duration::ZERO };
    let unseen = stale + Duration::from_secs(3);
    let outcome = catch_panic(|| {
        run_simulation(1, *plan, lines, unseen, async |sim| {
            flow.run(sim, plan.is_none()).await;
            steps = sim.faults.steps();
        })
    });
    (outcome, steps)
}
