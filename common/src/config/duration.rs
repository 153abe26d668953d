//! Durations in Go's syntax, which Kubernetes uses: `1h15m30.5s`. Entry points: [`parse`] and [`print`].

use jiff::SignedDuration;

/// The nanoseconds of each unit. Of two units with the same first letter the longer one comes first.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000), // the micro sign
    ("μs", 1_000), // the Greek letter
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// The duration that `text` stands for; `None` if it is not valid or is longer than 292 years.
pub fn parse(text: &str) -> Option<SignedDuration> {
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Some(SignedDuration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0i128;
    while !rest.is_empty() {
        let (nanoseconds, after) = part(rest)?;
        total = total.checked_add(nanoseconds)?;
        rest = after;
    }
    let signed = if negative { -total } else { total };
    i64::try_from(signed).ok().map(SignedDuration::from_nanos)
}

/// The number and unit at the start of `text` in nanoseconds, and the rest of `text`.
fn part(text: &str) -> Option<(i128, &str)> {
    let digits_end = |text: &str| text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (whole, rest) = text.split_at(digits_end(text));
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(digits_end(rest)),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (name, unit) = UNITS.iter().find(|(name, _)| {
        let after = rest.strip_prefix(name);
        after.is_some_and(|after| !after.starts_with(|next: char| next != '.' && !next.is_ascii_digit()))
    })?;
    let unit = i128::from(*unit);
    let whole = if whole.is_empty() { 0 } else { whole.parse::<i64>().ok()? };
    // Further digits are less than a nanosecond, even of an hour.
    let fraction = fraction.get(..fraction.len().min(15))?;
    let scale = 10i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let fraction = if fraction.is_empty() { 0 } else { fraction.parse::<i64>().ok()? };
    let nanoseconds = i128::from(whole) * unit + i128::from(fraction) * unit / scale;
    Some((nanoseconds, rest.strip_prefix(name)?))
}

/// The duration as Go prints it: `0s`, `1.5ms`, `15s`, `1h0m0.5s`.
pub fn print(duration: SignedDuration) -> String {
    let nanoseconds = duration.as_nanos();
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let total = nanoseconds.unsigned_abs();
    let text = match total {
        0 => "0s".to_owned(),
        1..1_000 => format!("{total}ns"),
        1_000..1_000_000 => format!("{}µs", fixed(total, 3)),
        1_000_000..1_000_000_000 => format!("{}ms", fixed(total, 6)),
        _ => {
            let (minutes, nanoseconds) = (total / 60_000_000_000, total % 60_000_000_000);
            let seconds = format!("{}s", fixed(nanoseconds, 9));
            match minutes {
                0 => seconds,
                1..60 => format!("{minutes}m{seconds}"),
                _ => format!("{}h{}m{seconds}", minutes / 60, minutes % 60),
            }
        }
    };
    format!("{sign}{text}")
}

/// `amount / 10^digits` without trailing zeros.
fn fixed(amount: u128, digits: u32) -> String {
    let unit = 10u128.pow(digits);
    let fraction = format!("{:0width$}", amount % unit, width = digits as usize);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}", amount / unit)
}

#[cfg(test)]
mod tests {
    use super::{parse, print};

    #[test]
    fn as_go_reads_and_prints() {
        let table = [
            ("0", "0s"),
            ("+5s", "5s"),
            ("-5.0s", "-5s"),
            ("1500ms", "1.5s"),
            ("100m", "1h40m0s"),
            ("1h15m30.918s", "1h15m30.918s"),
            (".5m", "30s"),
            ("1.s", "1s"),
            ("1us", "1µs"),
            ("1μs10ns", "1.01µs"),
            ("999ns", "999ns"),
            ("1500us", "1.5ms"),
            ("3s1h", "1h0m3s"),
            ("0.1234567891s", "123.456789ms"),
            ("9223372036854775807ns", "2562047h47m16.854775807s"),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text).map(print).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_go_refuses() {
        let bad = ["", "-", "5", "s", ".s", "1 s", "1d", "1S", "1ss", "--1s", "1s-1s", "0x1s", "1e3s", "١s"];
        for text in
            bad.into_iter().chain(["9223372036855s", "9223372036854775808ns", "99999999999999999999h"])
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
