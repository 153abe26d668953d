//! I10: the daemons compare their books by themselves, as they do every few minutes; here when all is calm.

use super::world::{DAEMONS, World};
use crate::history::Counts;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::time::Instant;

/// The latest moment at which the faults of a story end.
pub(super) const CALM_LATEST: Duration = Duration::from_secs(382);
/// A daemon that starts when all is calm compares its books so soon.
const COMPARE_MIN: Duration = Duration::from_secs(60);

impl World {
    /// After what time a daemon that starts now compares its books by itself: when all is calm. One more list before that
    /// would change every history that is known by its seed. None in plans, which are about one fault each.
    pub(super) fn compare_every(&self) -> Option<Duration> {
        let calm = (*self.calm.lock().unwrap_or_else(PoisonError::into_inner))?;
        // It comes after nine tenths of the time at the earliest.
        Some((calm.saturating_duration_since(Instant::now()) * 10 / 9).max(COMPARE_MIN))
    }

    /// I10: whoever leads has compared its books when all was calm, and found no difference.
    pub(super) fn compared(&self) {
        let metrics = self.metrics.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (replica, metrics) in DAEMONS.into_iter().zip(metrics) {
            let text = metrics.text();
            let is_counted =
                |result: &str| text.contains(&format!("cache_comparisons_total{{result=\"{result}\"}}"));
            match (is_counted("different"), is_counted("equal")) {
                (true, _) => {
                    self.record.broke(format!("I10: daemon {replica} compared its books: different"))
                }
                (false, true) => self.record.count("I10", Counts::check),
                (false, false) => self.record.count("I10", Counts::skip),
            }
        }
    }
}
