//! Simulates the product under virtual time with random faults, and checks the rules after each write. [`TIERS`] is the entry
//! point.
//!
//! One seed is one history: the same seed gives the same history on any machine, which its hash proves. `seeds` runs many seeds,
//! `known_seeds` lists those that once found a bug. Tier 1 (`steps`) drives the daemon's `handle` and the command's flows without
//! client or JSON; tier 2 (`whole`) drives the whole product over the sandbox.

mod fence;
pub mod history_log;
pub mod known_seeds;
mod newer_version;
mod ports;
pub mod seeds;
pub mod steps;
pub mod whole;

pub use history_log::HistoryLog;
use seeds::Outcome;

/// One way to simulate.
pub struct Tier {
    /// The name on the command line.
    pub name: &'static str,
    /// How many seeds are part of the test command.
    pub seeds: u64,
    /// Each of these rules must be checked in a run of `enough` seeds or more, and must rarely be excused.
    pub rules: &'static [&'static str],
    /// See `rules`.
    pub enough: u64,
    /// Simulates one seed and logs what happens. Only the seed decides what that is.
    pub simulate: fn(seed: u64, history: HistoryLog) -> Outcome,
    /// Simulates the plans (histories that are written by hand, not random) whose name contains `part`: name and outcome of each.
    pub plans: fn(part: &str) -> Vec<(String, Outcome)>,
}

/// All tiers, the cheapest first.
pub const TIERS: [Tier; 2] = [
    Tier {
        name: "steps",
        seeds: 20_000,
        rules: &steps::RULES,
        enough: 2_000,
        simulate: steps::simulate,
        plans: steps::plans,
    },
    Tier {
        name: "whole",
        seeds: 500,
        rules: &whole::RULES,
        enough: 200,
        simulate: whole::simulate,
        plans: whole::plans,
    },
];
