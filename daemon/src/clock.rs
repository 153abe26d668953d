//! The time: the API server's, carried on by the machine's monotonic clock.
//!
//! Expiry is written and judged by many machines, whose clocks differ; the API server's is the one they share. A
//! step of this machine's wall clock changes nothing.

use crate::state::Now;
use jiff::fmt::rfc2822;
use jiff::{SignedDuration, Timestamp};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Tells the time. Clones are one clock.
#[derive(Clone, Debug)]
pub struct Clock {
    started: Instant,
    known: Arc<Mutex<Known>>,
}

/// What is known about the time.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The time at some moment.
    wall: Timestamp,
    /// That moment.
    at: Instant,
    /// Whether the API server said so.
    is_told: bool,
}

impl Clock {
    /// A clock that goes by this machine until it hears from the API server.
    #[expect(clippy::disallowed_methods, reason = "this is the module that asks the machine")]
    pub fn start() -> Self {
        Self::start_at(Timestamp::now())
    }

    /// A clock that shows this time until it hears from the API server.
    pub fn start_at(wall: Timestamp) -> Self {
        let now = Instant::now();
        let known = Known { wall, at: now, is_told: false };
        Self { started: now, known: Arc::new(Mutex::new(known)) }
    }

    /// Sets the clock by an answer's `Date` header, which has whole seconds: a clock that is within that second is
    /// right, and stays as it is. An unreadable header changes nothing.
    pub fn learn(&self, headers: &http::HeaderMap) {
        let date = headers.get(http::header::DATE).and_then(|date| date.to_str().ok());
        let Some(date) = date.and_then(|date| rfc2822::DateTimeParser::new().parse_timestamp(date).ok())
        else {
            return;
        };
        let ahead = self.now().wall.duration_since(date);
        let mut known = self.known();
        known.is_told = true;
        if !(SignedDuration::ZERO..SignedDuration::from_secs(1)).contains(&ahead) {
            (known.wall, known.at) = (date, Instant::now());
        }
    }

    /// Whether the API server has told the time. Until then it is what this machine believes.
    pub fn is_told(&self) -> bool {
        self.known().is_told
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time since the start, which never jumps.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The time.
    pub fn now(&self) -> Now {
        let Known { wall, at, .. } = *self.known();
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
        assert!(!clock.is_told());
        clock.learn(&headers("Mon, 16 Nov 2026 08:00:00 GMT"));
        clock.learn(&headers("yesterday"));
        clock.learn(&http::HeaderMap::new());
        assert!(clock.is_told());
        assert_eq!(clock.now().wall.to_string(), "2026-11-16T08:00:00Z");
    }
}
