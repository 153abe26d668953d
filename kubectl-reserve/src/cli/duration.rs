//! Parser for durations on the command line: `90s`, `5m`, `1h30m`; a plain number is seconds.

use std::time::Duration;

/// The duration that `text` stands for; the error is the text that clap prints.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    read(text).ok_or_else(|| "expected a duration such as 30s, 5m or 1h30m".to_owned())
}

fn read(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let (mut total, mut rest) = (0_u64, text);
    while !rest.is_empty() {
        let end = rest.find(|character: char| !character.is_ascii_digit())?;
        let number: u64 = rest.get(..end)?.parse().ok()?;
        let scale = match rest.get(end..=end)? {
            "h" => 3600,
            "m" => 60,
            "s" => 1,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(scale)?)?;
        rest = rest.get(end + 1..)?;
    }
    (!text.is_empty()).then(|| Duration::from_secs(total))
}

#[cfg(test)]
mod tests {
    use super::parse_duration;

    #[test]
    fn durations_are_typed_as_in_kubectl() {
        for (text, seconds) in [("0", 0), ("90", 90), ("90s", 90), ("5m", 300), ("1h30m", 5400), ("0s", 0)] {
            assert_eq!(parse_duration(text).unwrap().as_secs(), seconds, "{text}");
        }
        for odd in
            ["", "m", "-5m", "1d", "5 m", "1.5h", "99999999999999999999s", "18446744073709551615h", "1ä"]
        {
            assert!(parse_duration(odd).is_err(), "{odd}");
        }
    }
}
