//! `reserve/keep`: the wish of a pod, a workload or a namespace that recreated pods find their room again.
//!
//! `true`, or for how long: `5m`. A program that waits for an answer adds whose wish it is: `5m#2f6c01`. The event that
//! answers repeats that, so that what was said to somebody else, or earlier, is not taken for it.

use super::excerpt::excerpt;
use super::ids::Text;
use std::time::Duration;

/// How long room is kept after it became empty, unless something else is wished.
pub const LIFE_DEFAULT: Duration = Duration::from_secs(10 * 60);

/// The shortest that anybody can ask for: a reservation that ends sooner would have to be written again and again.
pub const LIFE_MIN: Duration = Duration::from_secs(60);

/// The longest that anybody can wish.
pub const LIFE_MAX: Duration = Duration::from_secs(60 * 60);

/// The longest that anybody can be called.
const BY_LEN_MAX: usize = 20;

/// How much of a value that makes no sense is shown.
const SHOWN_MAX: usize = 40;

/// The value of a `reserve/keep` annotation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Keep {
    /// Room is kept.
    For {
        /// For this long after it became empty.
        life: Duration,
        /// Whose wish it is, if that was said.
        by: Option<Text>,
    },
    /// It is neither `true` nor a duration, and so as good as not there; shortened, to be shown.
    Invalid(Text),
}

impl Keep {
    /// What the annotation says. `false` and nothing are no wish.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let (life, by) = match text.split_once('#') {
            Some((life, by)) => (life, Some(by)),
            None => (text, None),
        };
        if matches!(text, "" | "false") {
            return None;
        }
        let life = if life == "true" { Some(LIFE_DEFAULT) } else { duration(life) };
        Some(match life.filter(|_| by.is_none_or(is_name)) {
            Some(life) => Self::For { life: life.clamp(LIFE_MIN, LIFE_MAX), by: by.map(Text::from) },
            None => Self::Invalid(excerpt(text, SHOWN_MAX).into()),
        })
    }

    /// A wish of somebody who waits for an answer, as it is written.
    pub fn wished_by(life: Duration, by: &str) -> String {
        format!("{}s#{by}", life.as_secs())
    }

    /// For how long room is kept; `None` if the value makes no sense.
    pub fn life(&self) -> Option<Duration> {
        match self {
            Self::For { life, .. } => Some(*life),
            Self::Invalid(_) => None,
        }
    }

    /// Whose wish it is, if that was said.
    pub fn by(&self) -> Option<&Text> {
        match self {
            Self::For { by, .. } => by.as_ref(),
            Self::Invalid(_) => None,
        }
    }
}

/// Whether somebody can be called that.
fn is_name(by: &str) -> bool {
    (1..=BY_LEN_MAX).contains(&by.len()) && by.bytes().all(|byte| byte.is_ascii_alphanumeric())
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
    use super::{Keep, LIFE_DEFAULT, LIFE_MAX, LIFE_MIN};
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
        assert_eq!((life("1s"), life("59s")), (Some(LIFE_MIN), Some(LIFE_MIN)));
        assert_eq!((Keep::read("false"), Keep::read("")), (None, None));
    }

    #[test]
    fn whoever_wishes_it_can_be_said() {
        let keep = |text: &str| Keep::read(text).unwrap();
        assert_eq!(keep(&Keep::wished_by(Duration::from_secs(90), "a1")), keep("1m30s#a1"));
        assert_eq!(keep("true#a1").by().map(|by| &**by), Some("a1"));
        assert_eq!((keep("true").by(), keep("5m#").by()), (None, None));
        assert_ne!(keep("5m#a1"), keep("5m#a2"), "another wish");
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
            "5m#",
            "5m#a#b",
            "5m#a b",
            "#a",
            "false#a",
            "5m#aaaaaaaaaaaaaaaaaaaaa",
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
