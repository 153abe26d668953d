//! The time in a field of an object, in half the memory of a [`Timestamp`]: each pod has three of them.

use jiff::Timestamp;
use std::cmp::Ordering;
use std::fmt;
use std::num::NonZeroI64;

/// A time in whole seconds, the precision with which the API server writes the times of an object. `Option<Moment>` takes no more
/// memory than `Moment`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Moment {
    /// Seconds since 1970 with the sign bit flipped. So 0, the value that `NonZeroI64` cannot hold, stands for a time that does not
    /// occur.
    flipped: NonZeroI64,
}

impl Moment {
    /// The second in which `time` falls.
    pub fn of(time: Timestamp) -> Self {
        Self { flipped: NonZeroI64::new(time.as_second() ^ i64::MIN).unwrap_or(NonZeroI64::MIN) }
    }

    pub fn time(self) -> Timestamp {
        Timestamp::from_second(self.seconds()).unwrap_or_default()
    }

    fn seconds(self) -> i64 {
        self.flipped.get() ^ i64::MIN
    }
}

impl From<Timestamp> for Moment {
    fn from(time: Timestamp) -> Self {
        Self::of(time)
    }
}

impl From<Moment> for Timestamp {
    fn from(moment: Moment) -> Self {
        moment.time()
    }
}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> Ordering {
        self.seconds().cmp(&other.seconds())
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.time().fmt(f)
    }
}

impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::Moment;
    use jiff::Timestamp;

    #[test]
    fn a_moment_is_the_second_it_was_made_of_and_sorts_like_it() {
        let texts =
            ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "9999-12-30T00:00:00Z"];
        let times = texts.map(|text| text.parse::<Timestamp>().unwrap());
        let moments = times.map(Moment::of);
        assert_eq!(moments.map(Moment::time), times);
        assert_eq!(moments.map(|moment| moment.to_string()), texts);
        assert!(moments.is_sorted());
        assert_eq!([Timestamp::MIN, Timestamp::MAX].map(Moment::of).map(Moment::time).len(), 2);
    }

    #[test]
    fn none_takes_no_room() {
        assert_eq!(size_of::<Option<Moment>>(), 8);
    }
}
