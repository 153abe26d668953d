//! `reserve/keep`: the wish of a pod, a workload or a namespace that recreated pods find their room again.

use super::excerpt::excerpt;
use super::ids::Text;
use std::time::Duration;

/// How long room is kept after it became empty, unless something else is wished.
pub const LIFE_DEFAULT: Duration = Duration::from_secs(10 * 60);

/// The longest that anybody can wish.
pub const LIFE_MAX: Duration = Duration::from_secs(60 * 60);

/// How much of a value that makes no sense is shown.
const SHOWN_MAX: usize = 40;

/// The value of a `reserve/keep` annotation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Keep {
    /// Room is kept, for this long after it became empty.
    For(Duration),
    /// It is neither `true` nor a duration, and so as good as not there; shortened, to be shown.
    Invalid(Text),
}

impl Keep {
    /// What the annotation says. `false` and nothing are no wish.
    pub fn read(text: &str) -> Option<Self> {
        match text.trim() {
            "" | "false" => None,
            "true" => Some(Self::For(LIFE_DEFAULT)),
            text => Some(match duration(text) {
                Some(life) => Self::For(life.min(LIFE_MAX)),
                None => Self::Invalid(excerpt(text, SHOWN_MAX).into()),
            }),
        }
    }

    /// For how long room is kept; `None` if the value makes no sense.
    pub fn life(&self) -> Option<Duration> {
        match self {
            Self::For(life) => Some(*life),
            Self::Invalid(_) => None,
        }
    }
}

/// A duration such as `90s`, `5m` or `1h30m`; none that is nothing.
fn duration(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|character: char| !character.is_ascii_digit())?;
        let number: u64 = rest.get(..end)?.parse().ok()?;
        let unit = rest.get(end..=end)?;
        let seconds = match unit {
            "h" => number.checked_mul(3600)?,
            "m" => number.checked_mul(60)?,
            "s" => number,
            _ => return None,
        };
        total = total.checked_add(Duration::from_secs(seconds))?;
        rest = rest.get(end + 1..)?;
    }
    (!total.is_zero()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::{Keep, LIFE_DEFAULT, LIFE_MAX};
    use std::time::Duration;

    #[test]
    fn a_wish_is_true_or_a_duration() {
        let life = |text: &str| Keep::read(text).and_then(|keep| keep.life());
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(life("true"), Some(LIFE_DEFAULT));
        assert_eq!(life(" true "), Some(LIFE_DEFAULT));
        assert_eq!(
            (life("90s"), life("5m"), life("1h"), life("5m30s")),
            (seconds(90), seconds(300), seconds(3600), seconds(330))
        );
        assert_eq!(life("48h"), Some(LIFE_MAX), "nobody keeps room for days");
        assert_eq!((Keep::read("false"), Keep::read("")), (None, None));
    }

    #[test]
    fn anything_else_is_shown_and_means_nothing() {
        let long = "9".repeat(100);
        for odd in [
            "True",
            "yes",
            "5",
            "m",
            "-5m",
            "5 m",
            "0s",
            "1.5h",
            "5mm",
            "18446744073709551615h",
            "5ä",
            "1d",
            &long,
        ] {
            let keep = Keep::read(odd);
            assert!(
                matches!(&keep, Some(Keep::Invalid(shown)) if shown.chars().count() <= 41),
                "{odd}: {keep:?}"
            );
        }
    }
}
