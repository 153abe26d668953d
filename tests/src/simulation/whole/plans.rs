//! Each flow, broken once at each of its writes in each of the ways that a plan can break it.

use super::flows::{FLOWS, Flow};
use super::line::STALE;
use super::lived;
use super::weather::{FAULTS, Fault, Plan};
use crate::simulation::History;
use crate::simulation::history::SHORT;
use crate::simulation::seeds::Outcome;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// As many threads as the smallest machine that tests run on has cores.
const THREADS: usize = 2;

/// Every plan with the flow that it is about.
type Planned = (String, Flow, Option<Plan>);

/// Lives through all plans; those whose name has `part` in it.
pub fn plans(part: &str) -> Vec<(String, Outcome)> {
    let mut all: Vec<Planned> = Vec::new();
    for (name, flow) in FLOWS {
        all.push((name.to_owned(), flow, None));
        for step in 1..=steps(flow) {
            for (word, fault) in FAULTS {
                all.push((format!("{name}/{step}/{word}"), flow, Some(Plan { step, fault })));
            }
        }
    }
    if all.iter().any(|(name, ..)| name == part) {
        all.retain(|(name, ..)| name == part);
    }
    all.retain(|(name, ..)| name.contains(part));
    let kept = if all.len() == 1 { usize::MAX } else { SHORT };
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((name, flow, plan)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = one(*flow, *plan, History::new(kept)).0;
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((name.clone(), outcome));
        }
    };
    std::thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(work))));
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by(|one, other| one.0.cmp(&other.0));
    done
}

/// How many steps a flow has when nothing goes wrong.
fn steps(flow: Flow) -> u64 {
    one(flow, None, History::new(0)).1
}

fn one(flow: Flow, plan: Option<Plan>, lines: History) -> (Outcome, u64) {
    let mut steps = 0;
    let keeps_news = |plan: Plan| matches!(plan.fault, Fault::StaleNodes | Fault::StalePods | Fault::Skipped);
    let stale = if plan.is_some_and(keeps_news) { STALE } else { Duration::ZERO };
    let unseen = stale + Duration::from_secs(3);
    let outcome = lived(1, plan, lines, unseen, async |world| {
        flow.run(world, plan.is_none()).await;
        steps = world.weather.steps();
    });
    (outcome, steps)
}
