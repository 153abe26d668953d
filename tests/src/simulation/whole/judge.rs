//! Judges a simulation: checks the rules about every write, and the rules about the end.

use super::final_state;
use super::record::Recording;
use super::sim::Sim;
use crate::history::{self, CheckSettings, Violation};
use crate::simulation::seeds::Outcome;

/// The rules that this tier checks. A run of many seeds must check each of them.
pub(in crate::simulation) const RULES: [&str; 12] =
    ["I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I10", "I16", "I19", "I24"];

/// The most violations that are reported: the first one is mostly the cause of the others.
const REPORTED_MAX: usize = 3;

pub(super) fn judge(sim: &Sim, settings: &CheckSettings, max_lines: usize) -> Outcome {
    let Recording { history: happened, mut lines, mut broken, mut counts } = sim.record.close();
    let (violations, asked) = history::check_counted(&happened, settings);
    counts.add(&asked);
    broken.extend(final_state::final_violations(&happened, settings, &mut counts));
    let mark = violations.first().map(|first| format!(" {} ", first.revision));
    broken.extend(violations.iter().map(Violation::to_string));
    broken.truncate(REPORTED_MAX);
    lines.keep_around(mark.as_deref(), max_lines);
    Outcome { history: lines, broken: (!broken.is_empty()).then(|| broken.join("; ")), counts }
}
