//! How long a pod waits between tries.

use std::time::Duration;

/// Upstream's default first delay.
const FIRST: Duration = Duration::from_secs(1);

/// Upstream's default longest delay.
const LONGEST: Duration = Duration::from_secs(10);

/// The delay after the given number of tries: doubling from one second to ten.
pub(super) fn delay(attempts: u32) -> Duration {
    let doublings = attempts.saturating_sub(1).min(LONGEST.as_secs().ilog2() + 1);
    (FIRST * 2_u32.pow(doublings)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::delay;

    #[test]
    fn doubles_from_one_second_to_ten() {
        let seconds: Vec<u64> = (1..=7).map(|attempts| delay(attempts).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 10, 10, 10]);
        assert_eq!(delay(u32::MAX).as_secs(), 10);
    }
}
