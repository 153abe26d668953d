//! Tier 1: the daemon's `handle` and the command's flows, without client or JSON, over a small model of the API.

use super::History;
use super::seeds::Outcome;

/// Lives through one seed.
pub fn simulate(_seed: u64, history: History) -> Outcome {
    Outcome { history, broken: None }
}

/// Lives through each plan that is written out.
pub fn plans(_part: &str) -> Vec<(String, Outcome)> {
    Vec::new()
}
