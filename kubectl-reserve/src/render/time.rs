//! Durations as kubectl prints ages: at most two units, coarser for longer durations.

use jiff::{SignedDuration, Timestamp};

/// The duration from `from` to `to`; `0s` if `to` is earlier.
pub(crate) fn between(from: Timestamp, to: Timestamp) -> String {
    human(to.duration_since(from))
}

/// A duration; `0s` if it is negative.
pub(crate) fn human(duration: SignedDuration) -> String {
    let seconds = duration.as_secs().max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let two = |big: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{big}{unit}"),
        small => format!("{big}{unit}{small}{small_unit}"),
    };
    match () {
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => two(minutes, "m", seconds % 60, "s"),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 => two(hours, "h", minutes % 60, "m"),
        () if hours < 48 => format!("{hours}h"),
        () if days < 8 => two(days, "d", hours % 24, "h"),
        () if days < 730 => format!("{days}d"),
        () if days < 8 * 365 => two(days / 365, "y", days % 365, "d"),
        () => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::{between, human};
    use jiff::{SignedDuration, Timestamp};

    #[test]
    fn from_comes_first_and_the_other_way_round_nothing_has_passed() {
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        assert_eq!(between(at(100), at(652)), "9m12s");
        assert_eq!(between(at(652), at(100)), "0s");
    }

    #[test]
    fn durations_read_like_kubectls() {
        let cases = [
            (-5, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (599, "9m59s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (10_860, "3h1m"),
            (28_800, "8h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (176_400, "2d1h"),
            (691_200, "8d"),
            (63_072_000, "2y"),
            (63_158_400, "2y1d"),
            (252_288_000, "8y"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(human(SignedDuration::from_secs(seconds)), expected, "{seconds} s");
        }
    }
}
