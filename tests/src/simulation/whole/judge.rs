//! What became of a simulation: the rules about every write, and what has to be so when all is calm again.

use super::record::Closed;
use super::settled;
use super::world::World;
use crate::history::{self, Rules, Violation};
use crate::simulation::seeds::Outcome;

/// The rules that are checked here; each has to be checked in a run of many seeds.
pub(in crate::simulation) const RULES: [&str; 12] =
    ["I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I10", "I16", "I19", "I24"];

/// So many broken rules are told; the first is mostly the reason for the others.
const TOLD: usize = 3;

/// Judges everything that happened.
pub(super) fn judge(world: &World, rules: &Rules, kept: usize) -> Outcome {
    let Closed { history: happened, mut lines, mut broken, mut counts } = world.record.close();
    let (violations, asked) = history::check_counted(&happened, rules);
    counts.add(&asked);
    broken.extend(settled::unsettled(&happened, rules, &mut counts));
    let mark = violations.first().map(|first| format!(" {} ", first.revision));
    broken.extend(violations.iter().map(Violation::to_string));
    broken.truncate(TOLD);
    lines.keep_around(mark.as_deref(), kept);
    Outcome { history: lines, broken: (!broken.is_empty()).then(|| broken.join("; ")), counts }
}
