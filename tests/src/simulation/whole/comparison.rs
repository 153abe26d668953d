//! I10: the daemons compare their state with the API server by themselves, as they do every few minutes; here after the faults.

use super::sim::{DAEMONS, Sim};
use crate::history::Counts;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::time::Instant;

/// The latest time at which the faults of a random history end.
pub(super) const CALM_LATEST: Duration = Duration::from_secs(382);
/// The shortest interval: a daemon that starts after the faults compares after this time.
const COMPARE_MIN: Duration = Duration::from_secs(60);

impl Sim {
    /// The comparison interval of a daemon that starts now, so that it first compares after the faults: an additional list before
    /// that would change the histories of all known seeds. `None` in plans, which have one fault each.
    pub(super) fn compare_every(&self) -> Option<Duration> {
        let calm = (*self.calm.lock().unwrap_or_else(PoisonError::into_inner))?;
        // The daemon's jitter makes the first comparison up to a tenth earlier.
        Some((calm.saturating_duration_since(Instant::now()) * 10 / 9).max(COMPARE_MIN))
    }

    /// I10: no daemon that has compared after the faults has found a difference.
    pub(super) fn check_comparisons(&self) {
        let metrics = self.metrics.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (replica, metrics) in DAEMONS.into_iter().zip(metrics) {
            let text = metrics.text();
            let is_counted =
                |result: &str| text.contains(&format!("cache_comparisons_total{{result=\"{result}\"}}"));
            match (is_counted("different"), is_counted("equal")) {
                (true, _) => self.record.fail(format!("I10: daemon {replica} compared its books: different")),
                (false, true) => self.record.count("I10", Counts::check),
                (false, false) => self.record.count("I10", Counts::skip),
            }
        }
    }
}
