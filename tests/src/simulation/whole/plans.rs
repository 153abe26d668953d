//! Each flow, broken once at each of its writes in each of the ways that a plan can break it.

use super::flows::{FLOWS, Flow};
use super::line::STALE;
use super::lived;
use super::scenes;
use super::weather::{FAULTS, Fault, Plan};
use crate::simulation::History;
use crate::simulation::history::SHORT;
use crate::simulation::seeds::{Outcome, caught};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// As many threads as the smallest machine that tests run on has cores.
const THREADS: usize = 2;

/// A flow, and what goes wrong in it.
#[derive(Clone)]
struct Planned {
    name: String,
    flow: Flow,
    plan: Option<Plan>,
}

/// What became of one: its name, the rest, and how many steps it had.
type Lived = (String, Outcome, u64);

/// Lives through all plans; those whose name has `part` in it, or only the one that is called so.
pub fn plans(part: &str) -> Vec<(String, Outcome)> {
    let is_asked = |name: &str| part.split_once('/').is_none_or(|(flow, _)| flow == name);
    let flows = FLOWS.into_iter().filter(|(name, _)| is_asked(name));
    let flows = flows.map(|(name, flow)| Planned { name: name.to_owned(), flow, plan: None });
    let flows: Vec<Planned> = flows.collect();
    // How many steps a flow has shows when nothing goes wrong.
    let mut lived = all(&flows, usize::MAX);
    let mut plans = Vec::new();
    for (flow, (.., steps)) in flows.iter().zip(&lived) {
        plans.extend((1..=*steps).flat_map(|step| broken(flow, step)));
    }
    let is_one = |name: &str| name == part;
    let is_one_only =
        plans.iter().any(|plan| is_one(&plan.name)) || lived.iter().any(|(name, ..)| is_one(name));
    let is_wanted = |name: &str| if is_one_only { is_one(name) } else { name.contains(part) };
    plans.retain(|plan| is_wanted(&plan.name));
    lived.retain(|(name, ..)| is_wanted(name));
    lived.extend(all(&plans, if is_one_only { usize::MAX } else { SHORT }));
    let mut lived: Vec<(String, Outcome)> =
        lived.into_iter().map(|(name, outcome, _)| (name, outcome)).collect();
    lived.extend(scenes::all(part, is_wanted));
    lived
}

/// A flow with each fault at one of its steps.
fn broken(flow: &Planned, step: u64) -> impl Iterator<Item = Planned> {
    FAULTS.into_iter().map(move |(word, fault)| Planned {
        name: format!("{}/{step}/{word}", flow.name),
        plan: Some(Plan { step, fault }),
        flow: flow.flow,
    })
}

/// Lives through plans, several at a time. What became of each, in their order.
fn all(plans: &[Planned], kept: usize) -> Vec<Lived> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(planned) = plans.get(index) else { break };
            let (outcome, steps) = one(planned, History::new(kept));
            let lived = (index, (planned.name.clone(), outcome, steps));
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(lived);
        }
    };
    std::thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(work))));
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, lived)| lived).collect()
}

fn one(planned: &Planned, lines: History) -> (Outcome, u64) {
    let mut steps = 0;
    let Planned { flow, plan, .. } = planned;
    let keeps_news =
        |plan: &Plan| matches!(plan.fault, Fault::StaleNodes | Fault::StalePods | Fault::Skipped);
    let stale = if plan.as_ref().is_some_and(keeps_news) { STALE } else { Duration::ZERO };
    let unseen = stale + Duration::from_secs(3);
    let outcome = caught(|| {
        lived(1, *plan, lines, unseen, async |world| {
            flow.run(world, plan.is_none()).await;
            steps = world.weather.steps();
        })
    });
    (outcome, steps)
}
