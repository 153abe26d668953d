//! Runs many seeds on two threads ([`run`]), each seed on one thread, and returns those that fail with the end of their history.

use super::history_log::{HistoryLog, SHORT};
use crate::history::Counts;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The result of one simulation.
#[derive(Debug)]
pub struct Outcome {
    /// The log of the simulation.
    pub history: HistoryLog,
    /// The broken rule, as a message; `None` if no rule was broken.
    pub broken: Option<String>,
    /// How often each rule was checked.
    pub counts: Counts,
}

/// The seeds to run.
#[derive(Debug, Clone, Copy)]
pub struct SeedRange {
    /// The first seed.
    pub from: u64,
    /// The number of seeds.
    pub count: u64,
    /// The run stops when so many seeds have failed.
    pub failed_max: usize,
}

/// A failed simulation.
#[derive(Debug)]
pub struct FailedRun {
    /// The seed, or the name of the plan.
    pub name: String,
    /// The broken rule, as a message.
    pub broken: String,
    /// The end of its history.
    pub trace: Vec<String>,
}

/// As many threads as the smallest machine that tests run on has cores.
const THREADS: usize = 2;
/// One seed in so many is run a second time, and must give the same history.
const REPEAT_EVERY: u64 = 100;
/// One bug makes thousands of seeds fail; a few are enough to find it.
pub const FAILED_MAX: usize = 5;

/// Runs all seeds of the range, or stops when some have failed. Returns the failed ones, sorted by seed, and adds the counts of all
/// to `counts`.
pub fn run(
    range: SeedRange,
    simulate: fn(u64, HistoryLog) -> Outcome,
    counts: &mut Counts,
) -> Vec<FailedRun> {
    let next = AtomicU64::new(range.from);
    let enough = AtomicBool::new(false);
    let failed = Mutex::new(Vec::new());
    let counted = Mutex::new(counts);
    let end = range.from.saturating_add(range.count);
    let work = || {
        let mut own = Counts::default();
        while !enough.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                break;
            }
            if let Some(found) = check(seed, simulate, &mut own) {
                let mut failed = failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                failed.push((seed, found));
                enough.store(failed.len() >= range.failed_max, Ordering::Relaxed);
            }
        }
        counted.lock().unwrap_or_else(std::sync::PoisonError::into_inner).add(&own);
    };
    std::thread::scope(|scope| {
        (0..THREADS).for_each(|_| drop(scope.spawn(work)));
    });
    let mut failed = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    failed.sort_by_key(|(seed, _)| *seed);
    failed.into_iter().map(|(_, failed)| failed).collect()
}

/// Runs one seed, some seeds twice. The counts of the second run are not added.
fn check(seed: u64, simulate: fn(u64, HistoryLog) -> Outcome, counts: &mut Counts) -> Option<FailedRun> {
    let first = run_seed(seed, SHORT, simulate);
    counts.add(&first.counts);
    let hash = first.history.hash();
    if first.broken.is_none() && seed.is_multiple_of(REPEAT_EVERY) {
        let second = run_seed(seed, SHORT, simulate);
        if second.history.hash() != hash {
            let broken = "the same seed gave another history".to_owned();
            return failed_run(seed.to_string(), Outcome { broken: Some(broken), ..second });
        }
    }
    failed_run(seed.to_string(), first)
}

/// Runs one seed, and keeps `max_lines` lines of its log.
pub fn run_seed(seed: u64, max_lines: usize, simulate: fn(u64, HistoryLog) -> Outcome) -> Outcome {
    catch_panic(|| simulate(seed, HistoryLog::new(max_lines)))
}

/// Runs a simulation. A panic is a failure like any other, without lines.
pub(super) fn catch_panic(live: impl FnOnce() -> Outcome) -> Outcome {
    catch_unwind(AssertUnwindSafe(live)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
        let broken = Some(format!("panicked: {text}"));
        Outcome { history: HistoryLog::new(0), broken, counts: Counts::default() }
    })
}

/// The report of a simulation, if it failed.
pub fn failed_run(name: String, outcome: Outcome) -> Option<FailedRun> {
    let broken = outcome.broken?;
    Some(FailedRun { name, broken, trace: outcome.history.into_lines() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn fails_at_seven(seed: u64, mut history: HistoryLog) -> Outcome {
        history.note(Duration::ZERO, format_args!("seed {seed}"));
        assert_ne!(seed, 8, "eight");
        let mut counts = Counts::default();
        counts.check("I1");
        Outcome { history, broken: (seed % 10 == 7).then(|| "seven".to_owned()), counts }
    }

    fn differs(_: u64, mut history: HistoryLog) -> Outcome {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        history.note(Duration::ZERO, format_args!("call {}", CALLS.fetch_add(1, Ordering::Relaxed)));
        Outcome { history, broken: None, counts: Counts::default() }
    }

    #[test]
    fn failing_seeds_are_told_in_order_with_their_trace() {
        let mut counts = Counts::default();
        let failed =
            run(SeedRange { from: 0, count: 20, failed_max: FAILED_MAX }, fails_at_seven, &mut counts);
        assert_eq!(counts.get("I1").checked, 19, "all but the one that panicked, and none twice");
        let told: Vec<_> = failed.iter().map(|failed| (failed.name.as_str(), failed.trace.len())).collect();
        assert_eq!(told, [("7", 1), ("8", 0), ("17", 1)]);
        assert!(failed[1].broken.contains("eight"), "{}", failed[1].broken);
    }

    #[test]
    fn a_seed_that_gives_another_history_the_second_time_fails() {
        let failed =
            run(SeedRange { from: 100, count: 1, failed_max: FAILED_MAX }, differs, &mut Counts::default());
        assert_eq!(failed[0].broken, "the same seed gave another history");
    }
}
