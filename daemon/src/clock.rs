//! The current time: the API server's time, continued by this machine's monotonic clock.
//!
//! Many machines write and read expiry times, and their clocks differ; the clock that they share is the API server's. A
//! step of this machine's wall clock has no effect. Entry points: [`Clock::learn`] sets the clock, [`Clock::now`] reads it.

use crate::state::Now;
use jiff::fmt::rfc2822;
use jiff::{SignedDuration, Timestamp};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The clock of the daemon. Clones share one clock.
#[derive(Clone, Debug)]
pub struct Clock {
    started: Instant,
    reference: Arc<Mutex<ReferenceTime>>,
}

/// A pair of wall time and instant, from which the current time is computed.
#[derive(Clone, Copy, Debug)]
struct ReferenceTime {
    /// The wall time at the instant `at`.
    wall: Timestamp,
    at: Instant,
    /// true: `wall` comes from the API server. false: from this machine.
    is_set_by_api_server: bool,
}

impl Clock {
    /// A clock that uses this machine's time until [`Clock::learn`] is called.
    #[expect(clippy::disallowed_methods, reason = "this is the module that asks the machine")]
    pub fn start() -> Self {
        Self::start_at(Timestamp::now())
    }

    /// A clock that starts at `wall` and uses it until [`Clock::learn`] is called.
    pub fn start_at(wall: Timestamp) -> Self {
        let now = Instant::now();
        let reference = ReferenceTime { wall, at: now, is_set_by_api_server: false };
        Self { started: now, reference: Arc::new(Mutex::new(reference)) }
    }

    /// Sets the clock by the `Date` header of an answer. The header has whole seconds, so a clock that is within that second
    /// is right and is not changed. A header that cannot be parsed is ignored.
    pub fn learn(&self, headers: &http::HeaderMap) {
        let date = headers.get(http::header::DATE).and_then(|date| date.to_str().ok());
        let Some(date) = date.and_then(|date| rfc2822::DateTimeParser::new().parse_timestamp(date).ok())
        else {
            return;
        };
        let ahead = self.now().wall.duration_since(date);
        let mut reference = self.reference();
        reference.is_set_by_api_server = true;
        if !(SignedDuration::ZERO..SignedDuration::from_secs(1)).contains(&ahead) {
            (reference.wall, reference.at) = (date, Instant::now());
        }
    }

    /// Whether the time comes from the API server. Before the first answer it comes from this machine.
    pub fn is_set_by_api_server(&self) -> bool {
        self.reference().is_set_by_api_server
    }

    fn reference(&self) -> MutexGuard<'_, ReferenceTime> {
        self.reference.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time since the start of the clock. It never jumps.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn now(&self) -> Now {
        let ReferenceTime { wall, at, .. } = *self.reference();
        let now = Instant::now();
        Now { wall: wall.saturating_add(now - at).unwrap_or(wall), elapsed: now - self.started }
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;
    use std::time::Duration;

    fn headers(date: &str) -> http::HeaderMap {
        [(http::header::DATE, date.parse().unwrap())].into_iter().collect()
    }

    #[tokio::test(start_paused = true)]
    async fn goes_by_the_api_server_and_on_by_itself() {
        let clock = Clock::start();
        clock.learn(&headers("Mon, 16 Nov 2026 08:00:00 GMT"));
        tokio::time::advance(Duration::from_secs(90)).await;
        assert_eq!(clock.now().wall.to_string(), "2026-11-16T08:01:30Z");
        assert_eq!(clock.now().elapsed, Duration::from_secs(90));
    }

    #[tokio::test(start_paused = true)]
    async fn does_not_jump_within_the_second_that_the_server_names() {
        let clock = Clock::start();
        clock.learn(&headers("Mon, 16 Nov 2026 08:00:00 GMT"));
        tokio::time::advance(Duration::from_millis(900)).await;
        clock.learn(&headers("Mon, 16 Nov 2026 08:00:00 GMT"));
        assert_eq!(clock.now().wall.to_string(), "2026-11-16T08:00:00.9Z");
        clock.learn(&headers("Mon, 16 Nov 2026 08:00:02 GMT"));
        assert_eq!(clock.now().wall.to_string(), "2026-11-16T08:00:02Z");
    }

    #[tokio::test(start_paused = true)]
    async fn an_unreadable_date_changes_nothing() {
        let clock = Clock::start();
        clock.learn(&headers("yesterday"));
        assert!(!clock.is_set_by_api_server());
        clock.learn(&headers("Mon, 16 Nov 2026 08:00:00 GMT"));
        clock.learn(&headers("yesterday"));
        clock.learn(&http::HeaderMap::new());
        assert!(clock.is_set_by_api_server());
        assert_eq!(clock.now().wall.to_string(), "2026-11-16T08:00:00Z");
    }
}
