//! How long a pod waits between attempts.

use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// The delay after the first attempt (`podInitialBackoffSeconds`).
    pub initial: Duration,
    /// The longest delay (`podMaxBackoffSeconds`).
    pub max: Duration,
    /// How long a pod stays unschedulable or gated at most, even if no change wakes it up (kube-scheduler's
    /// `--pod-max-in-unschedulable-pods-duration`). It makes a missed wake-up harmless.
    pub unschedulable_max: Duration,
}

impl Default for Backoff {
    /// kube-scheduler's defaults.
    fn default() -> Self {
        Self {
            initial: Duration::from_secs(1),
            max: Duration::from_secs(10),
            unschedulable_max: Duration::from_secs(5 * 60),
        }
    }
}

impl Backoff {
    /// The delay after the given number of attempts: doubled each time, up to `max`.
    pub(super) fn delay(self, attempts: u32) -> Duration {
        let doubled =
            2_u32.checked_pow(attempts.saturating_sub(1)).and_then(|factor| self.initial.checked_mul(factor));
        doubled.map_or(self.max, |delay| delay.min(self.max))
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
        let slow = Backoff { initial: Duration::from_secs(30), max: Duration::MAX, ..Backoff::default() };
        assert_eq!(slow.delay(3), Duration::from_secs(120));
        assert_eq!(slow.delay(60), Duration::MAX);
    }
}
