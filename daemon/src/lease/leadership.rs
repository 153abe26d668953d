//! Whether this replica leads ([`Leadership`]), and the error that ends `run` when it no longer does.

use crate::state::Now;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Until when this replica leads. Code that acts as the leader checks this right before it acts: the input that says that the
/// leadership is over may still wait behind other inputs.
#[derive(Clone, Debug)]
pub(crate) struct Leadership {
    /// Milliseconds of [`Now::elapsed`], or `NEVER` or `OVER`.
    until: Arc<AtomicU64>,
}

/// This replica has never led.
const NEVER: u64 = 0;

/// This replica has led and no longer leads.
const OVER: u64 = 1;

impl Leadership {
    pub(crate) fn none() -> Self {
        Self { until: Arc::new(AtomicU64::new(NEVER)) }
    }

    /// The leadership of a replica without an election, which never ends.
    pub(crate) fn for_ever() -> Self {
        Self { until: Arc::new(AtomicU64::new(u64::MAX)) }
    }

    pub(crate) fn is_held(&self, now: Now) -> bool {
        let until = self.until.load(Ordering::SeqCst);
        until > OVER && now.elapsed.as_millis() < u128::from(until)
    }

    /// Whether this replica has led and no longer does. It cannot lead again: its decisions are out of date.
    pub(crate) fn is_lost(&self, now: Now) -> bool {
        self.until.load(Ordering::SeqCst) > NEVER && !self.is_held(now)
    }

    /// For how long the leadership has been over; zero if this replica has not led, or if there is no election.
    pub(crate) fn overdue(&self, elapsed: Duration) -> Duration {
        match self.until.load(Ordering::SeqCst) {
            NEVER => Duration::ZERO,
            until => elapsed.saturating_sub(Duration::from_millis(until)),
        }
    }

    /// This replica leads until `until`, unless this is called again before.
    pub(crate) fn set(&self, until: Duration) {
        let millis = u64::try_from(until.as_millis()).unwrap_or(u64::MAX).max(OVER);
        self.until.store(millis, Ordering::SeqCst);
    }
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("lost the Lease {lease}: {why}")]
pub(crate) struct LeadershipLost {
    pub(super) lease: String,
    pub(super) why: &'static str,
}
