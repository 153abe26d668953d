//! Compares the belief with what the API server has, periodically and on `SIGUSR2`.
//!
//! ```text
//!   Input::Compare ──▶ Effect::List ──▶ Input::Listed ──▶ the belief sees as much as the list ──▶ Note::Compared
//! ```
//!
//! One comparison runs at a time. The rules are those of [`common::cluster::compare`]. Knows nothing of: how lists are read.

#[cfg(test)]
mod tests;

use crate::state::{ComparisonCause, ComparisonResult, Effect, Note, Step};
use common::cluster::compare::{Comparison, Listing};
use std::time::Duration;

/// A comparison that has waited this long for the watches is given up when the next one is due. A working watch gets a bookmark
/// each minute, and a dead one is noticed after a minute and a half.
const WATCH_WAIT_MAX: Duration = Duration::from_secs(180);

#[derive(Default)]
pub(crate) struct Comparer {
    running: Option<RunningComparison>,
}

enum RunningComparison {
    Listing,
    /// It waits until the watches have brought as much as the list.
    Listed {
        comparison: Box<Comparison>,
        since: Duration,
    },
}

impl Comparer {
    pub(crate) fn begin(&mut self, cause: ComparisonCause, is_leading: bool, step: &mut Step<'_>) {
        if cause == ComparisonCause::Period && !is_leading {
            return;
        }
        if !step.cluster.is_complete() {
            return note(step, ComparisonResult::Unknown("not everything was listed yet".to_owned()));
        }
        match &self.running {
            Some(RunningComparison::Listed { since, .. })
                if step.now.elapsed >= since.saturating_add(WATCH_WAIT_MAX) =>
            {
                let why = format!("the watches did not reach the list in {} s", WATCH_WAIT_MAX.as_secs());
                note(step, ComparisonResult::Unknown(why));
            }
            // Its result is that of this one, too.
            Some(_) => return,
            None => {}
        }
        step.cluster.begin_comparison();
        self.running = Some(RunningComparison::Listing);
        step.effects.push(Effect::List);
    }

    pub(crate) fn listed(&mut self, listing: Result<Box<Listing>, String>, step: &mut Step<'_>) {
        match listing {
            Ok(listing) => {
                let (comparison, since) = (Box::new(Comparison::new(*listing)), step.now.elapsed);
                self.running = Some(RunningComparison::Listed { comparison, since });
                self.proceed(step);
            }
            Err(why) => self.end(ComparisonResult::Unknown(why), step),
        }
    }

    /// Compares as far as the belief has seen as much as the lists.
    pub(crate) fn proceed(&mut self, step: &mut Step<'_>) {
        let Some(RunningComparison::Listed { comparison, .. }) = &mut self.running else { return };
        match comparison.step(step.cluster) {
            None => {}
            Some(differences) if differences.is_empty() => self.end(ComparisonResult::Equal, step),
            Some(differences) => self.end(ComparisonResult::Different(differences), step),
        }
    }

    fn end(&mut self, result: ComparisonResult, step: &mut Step<'_>) {
        self.running = None;
        step.cluster.end_comparison();
        note(step, result);
    }
}

fn note(step: &mut Step<'_>, result: ComparisonResult) {
    step.notes.push(Note::Compared(result));
}
