//! Breaking things by the thousand: the product driven under virtual time by seeds, with faults, and judged after each write.
//!
//! One seed is one history: the same seed gives the same history, on any machine, whose hash proves it. `seeds` runs
//! many, `known` those that once found a bug. Tier 1 (`steps`) drives the daemon's `handle` and the command's flows
//! without client or JSON; tier 2 (`whole`) the whole product over the sandbox.

mod fence;
pub mod history;
pub mod known;
mod newer;
mod ports;
pub mod seeds;
pub mod steps;
pub mod whole;

pub use history::History;
use seeds::Outcome;

/// One way to simulate.
pub struct Tier {
    /// What it is called on the command line.
    pub name: &'static str,
    /// How many seeds are part of the test command.
    pub seeds: u64,
    /// Each of these rules has to be checked in a run of so many seeds or more, and must rarely be excused.
    pub rules: &'static [&'static str],
    /// See `rules`.
    pub enough: u64,
    /// Lives through one seed, writing down what happens. Nothing but the seed decides what that is.
    pub simulate: fn(seed: u64, history: History) -> Outcome,
    /// Lives through each plan that is written out rather than drawn: its name, and what became of it.
    /// Only those whose name has a text in it.
    pub plans: fn(part: &str) -> Vec<(String, Outcome)>,
}

/// All of them, in order of how much they take.
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
