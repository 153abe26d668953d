//! Many seeds on two threads, one seed on one of them; those that fail, with the end of their history.

use super::history::{History, SHORT};
use crate::history::Counts;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What became of one simulation.
#[derive(Debug)]
pub struct Outcome {
    /// What happened in it.
    pub history: History,
    /// The rule that was broken, in words; `None` when all is well.
    pub broken: Option<String>,
    /// How often each rule was asked.
    pub counts: Counts,
}

/// Which seeds.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    /// The first.
    pub from: u64,
    /// How many.
    pub count: u64,
    /// The run ends when so many of them have failed.
    pub failed_max: usize,
}

/// A simulation that went wrong.
#[derive(Debug)]
pub struct Failed {
    /// Its seed, or the name of its plan.
    pub name: String,
    /// The rule that was broken.
    pub broken: String,
    /// The end of its history.
    pub trace: Vec<String>,
}

/// As many threads as the smallest machine that tests run on has cores.
const THREADS: usize = 2;
/// One seed in so many is run a second time, and has to give the same history.
const AGAIN: u64 = 100;
/// One bug fails thousands of seeds; a few show it.
pub const FAILED_MAX: usize = 5;

/// Lives through all of them, or until some have failed. The failed ones come in the order of their seeds. What was counted in
/// all of them is added to `counts`.
pub fn run(range: Range, simulate: fn(u64, History) -> Outcome, counts: &mut Counts) -> Vec<Failed> {
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

/// Lives through one seed, some of them twice; what is counted is counted once.
fn check(seed: u64, simulate: fn(u64, History) -> Outcome, counts: &mut Counts) -> Option<Failed> {
    let first = one(seed, SHORT, simulate);
    counts.add(&first.counts);
    let hash = first.history.hash();
    if first.broken.is_none() && seed.is_multiple_of(AGAIN) {
        let second = one(seed, SHORT, simulate);
        if second.history.hash() != hash {
            let broken = "the same seed gave another history".to_owned();
            return failed(seed.to_string(), Outcome { broken: Some(broken), ..second });
        }
    }
    failed(seed.to_string(), first)
}

/// Lives through one seed, keeping so many lines of it.
pub fn one(seed: u64, kept: usize, simulate: fn(u64, History) -> Outcome) -> Outcome {
    caught(|| simulate(seed, History::new(kept)))
}

/// Lives through something. A panic is a failure like any other, without a trace of its own.
pub(super) fn caught(live: impl FnOnce() -> Outcome) -> Outcome {
    catch_unwind(AssertUnwindSafe(live)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
        let broken = Some(format!("panicked: {text}"));
        Outcome { history: History::new(0), broken, counts: Counts::default() }
    })
}

/// What is told of a simulation, if it failed.
pub fn failed(name: String, outcome: Outcome) -> Option<Failed> {
    let broken = outcome.broken?;
    Some(Failed { name, broken, trace: outcome.history.into_lines() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn fails_at_seven(seed: u64, mut history: History) -> Outcome {
        history.note(Duration::ZERO, format_args!("seed {seed}"));
        assert_ne!(seed, 8, "eight");
        let mut counts = Counts::default();
        counts.check("I1");
        Outcome { history, broken: (seed % 10 == 7).then(|| "seven".to_owned()), counts }
    }

    fn differs(_: u64, mut history: History) -> Outcome {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        history.note(Duration::ZERO, format_args!("call {}", CALLS.fetch_add(1, Ordering::Relaxed)));
        Outcome { history, broken: None, counts: Counts::default() }
    }

    #[test]
    fn failing_seeds_are_told_in_order_with_their_trace() {
        let mut counts = Counts::default();
        let failed = run(Range { from: 0, count: 20, failed_max: FAILED_MAX }, fails_at_seven, &mut counts);
        assert_eq!(counts.get("I1").checked, 19, "all but the one that panicked, and none twice");
        let told: Vec<_> = failed.iter().map(|failed| (failed.name.as_str(), failed.trace.len())).collect();
        assert_eq!(told, [("7", 1), ("8", 0), ("17", 1)]);
        assert!(failed[1].broken.contains("eight"), "{}", failed[1].broken);
    }

    #[test]
    fn a_seed_that_gives_another_history_the_second_time_fails() {
        let failed =
            run(Range { from: 100, count: 1, failed_max: FAILED_MAX }, differs, &mut Counts::default());
        assert_eq!(failed[0].broken, "the same seed gave another history");
    }
}
