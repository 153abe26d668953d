//! What became of a simulation: the rules about every write, and what has to be so when all is calm again.

use super::world::World;
use crate::history::{self, Rules, Violation};
use crate::simulation::seeds::Outcome;

/// So many broken rules are told; the first is mostly the reason for the others.
const TOLD: usize = 3;

/// Judges everything that happened.
pub(super) fn judge(world: &World, rules: &Rules, kept: usize) -> Outcome {
    let (happened, mut lines, mut broken) = world.record.close();
    let violations = history::check(&happened, rules);
    let mark = violations.first().map(|first| format!(" {} ", first.revision));
    broken.extend(violations.iter().map(Violation::to_string));
    broken.truncate(TOLD);
    lines.keep_around(mark.as_deref(), kept);
    Outcome { history: lines, broken: (!broken.is_empty()).then(|| broken.join("; ")) }
}
