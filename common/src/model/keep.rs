//! `reserve/keep`: the annotation by which a pod, a workload or a namespace asks that the room of recreated pods is kept.
//!
//! The value is `true`, or how long room is kept: `5m`. A program that waits for an answer adds an id of its own: `5m#2f6c01`. The
//! event that answers repeats the id, so that the program does not mistake an answer to an earlier or another request for its own.
//! Entry point: [`Keep::read`].

use super::excerpt::excerpt;
use super::ids::Text;
use std::time::Duration;

/// How long room is kept after it became empty, unless the annotation says otherwise.
pub const LIFE_DEFAULT: Duration = Duration::from_secs(10 * 60);

/// The shortest time that an annotation can ask for: a shorter reservation would have to be written again and again.
pub const LIFE_MIN: Duration = Duration::from_secs(60);

/// The longest time that an annotation can ask for.
pub const LIFE_MAX: Duration = Duration::from_secs(60 * 60);

const REQUESTER_LEN_MAX: usize = 20;

/// How many characters of an invalid value are shown.
const SHOWN_MAX: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Keep {
    /// Room is kept for `life` after it became empty. The program that asked for it may have given an id.
    For { life: Duration, requester: Option<Text> },
    /// The value is neither `true` nor a duration, and has no effect. Shortened, to be shown.
    Invalid(Text),
}

impl Keep {
    /// Reads the value of the annotation. `None` for `false` and for an empty value, which ask for nothing.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let (life, requester) = match text.split_once('#') {
            Some((life, requester)) => (life, Some(requester)),
            None => (text, None),
        };
        if matches!(text, "" | "false") {
            return None;
        }
        let life = if life == "true" { Some(LIFE_DEFAULT) } else { duration(life) };
        Some(match life.filter(|_| requester.is_none_or(is_requester)) {
            Some(life) => {
                Self::For { life: life.clamp(LIFE_MIN, LIFE_MAX), requester: requester.map(Text::from) }
            }
            None => Self::Invalid(excerpt(text, SHOWN_MAX).into()),
        })
    }

    /// The value of the annotation of a program that waits for an answer.
    pub fn annotation_value(life: Duration, requester: &str) -> String {
        format!("{}s#{requester}", life.as_secs())
    }

    /// How long room is kept; `None` if the value is invalid.
    pub fn life(&self) -> Option<Duration> {
        match self {
            Self::For { life, .. } => Some(*life),
            Self::Invalid(_) => None,
        }
    }

    /// The id of the program that asked for it, if the value has one.
    pub fn requester(&self) -> Option<&Text> {
        match self {
            Self::For { requester, .. } => requester.as_ref(),
            Self::Invalid(_) => None,
        }
    }
}

fn is_requester(text: &str) -> bool {
    (1..=REQUESTER_LEN_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Reads a duration such as `90s`, `5m` or `1h30m`. A duration of zero is not accepted.
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
    fn a_value_is_true_or_a_duration() {
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
    fn a_value_can_name_its_requester() {
        let keep = |text: &str| Keep::read(text).unwrap();
        assert_eq!(keep(&Keep::annotation_value(Duration::from_secs(90), "a1")), keep("1m30s#a1"));
        assert_eq!(keep("true#a1").requester().map(|requester| &**requester), Some("a1"));
        assert_eq!((keep("true").requester(), keep("5m#").requester()), (None, None));
        assert_ne!(keep("5m#a1"), keep("5m#a2"), "another request");
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
