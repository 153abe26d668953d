//! How long a pod waits between tries.

use std::time::Duration;

/// The delays after the first and after many tries.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// After the first try.
    pub first: Duration,
    /// After any number of tries.
    pub longest: Duration,
    /// How long a parked pod stays so at most, even if nothing happens that we know could cure it. It makes a missed
    /// wake-up harmless.
    pub parked: Duration,
}

impl Default for Backoff {
    /// Upstream's.
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(10),
            parked: Duration::from_secs(5 * 60),
        }
    }
}

impl Backoff {
    /// The delay after the given number of tries: doubling up to the longest.
    pub(super) fn delay(self, attempts: u32) -> Duration {
        let doubled =
            2_u32.checked_pow(attempts.saturating_sub(1)).and_then(|factor| self.first.checked_mul(factor));
        doubled.map_or(self.longest, |delay| delay.min(self.longest))
    }
}

#[cfg(test)]
mod tests {
    use super::Backoff;
    use std::time::Duration;

    #[test]
    fn doubles_from_one_second_to_ten() {
        let delay = |attempts| Backoff::default().delay(attempts);
        let seconds: Vec<u64> = (1..=7).map(|attempts| delay(attempts).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 10, 10, 10]);
        assert_eq!(delay(u32::MAX).as_secs(), 10);
        let slow = Backoff { first: Duration::from_secs(30), longest: Duration::MAX, ..Backoff::default() };
        assert_eq!(slow.delay(3), Duration::from_secs(120));
        assert_eq!(slow.delay(60), Duration::MAX);
    }
}
