//! Text to nano units, in one pass and without memory of its own.
//!
//! The trick is to decide by counting digits before any arithmetic: a number with too many digits before the
//! nano's place is the maximum, one with none is a single nano, and what remains fits 128 bits.

use super::{Format, NANO_MAX, QuantityProblem};

/// A quantity as read.
pub(super) struct Scanned {
    pub(super) nano: i128,
    pub(super) format: Format,
    /// The text says more than the maximum.
    pub(super) clipped: bool,
}

/// Reads `sign? digits* (. digits*)? suffix`, refusing what Kubernetes refuses.
pub(super) fn scan(text: &str) -> Result<Scanned, QuantityProblem> {
    if text.is_empty() {
        return Err(QuantityProblem::Empty);
    }
    let (negative, unsigned) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    let (whole, rest) = split_digits(unsigned);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => split_digits(rest),
        None => ("", rest),
    };
    let suffix = read_suffix(rest)?;
    let number = Number { whole: whole.as_bytes(), fraction: fraction.as_bytes() };
    if whole.is_empty() && fraction.is_empty() && !suffix.stands_alone() {
        return Err(QuantityProblem::Digits);
    }
    let (magnitude, format) = match suffix {
        Suffix::Decimal(power) => (number.times_power_of_ten(i128::from(power)), Format::DecimalSi),
        Suffix::Exponent(power) => (number.times_power_of_ten(i128::from(power)), Format::DecimalExponent),
        Suffix::Binary(bits) => {
            let magnitude = number.times_power_of_two(bits);
            // Kubernetes does the same: less than one of something is not written in powers of 1024.
            let small = matches!(magnitude, Some(nano) if 0 < nano && nano < super::NANO_PER_UNIT);
            (magnitude, if small { Format::DecimalSi } else { Format::BinarySi })
        }
    };
    let clipped = magnitude.is_none();
    let nano = magnitude.unwrap_or(NANO_MAX);
    Ok(Scanned { nano: if negative { -nano } else { nano }, format, clipped })
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(prefix_length(text.as_bytes(), |byte| byte.is_ascii_digit()))
}

/// How many bytes at the beginning match. Looks at a block at a time without leaving it early, which the
/// compiler turns into wide instructions: a hundred kilobytes of digits then cost microseconds.
fn prefix_length(bytes: &[u8], matches: impl Fn(u8) -> bool) -> usize {
    const BLOCK: usize = 64;
    let all_match = |block: &&[u8]| block.iter().fold(true, |all, byte| all & matches(*byte));
    let start = BLOCK * bytes.chunks_exact(BLOCK).take_while(all_match).count();
    let rest = &bytes[start..];
    start + rest.iter().position(|byte| !matches(*byte)).unwrap_or(rest.len())
}

enum Suffix {
    Decimal(i32),
    Binary(u32),
    Exponent(i64),
}

impl Suffix {
    /// Whether Kubernetes reads the bare suffix, with no number before it, as nothing rather than as an
    /// error.
    ///
    /// There is no idea behind it: its fast path does not need digits and its slow path does. The truncation
    /// of the exponent is part of that.
    fn stands_alone(&self) -> bool {
        match self {
            Self::Decimal(_) => true,
            Self::Binary(bits) => *bits < 50,
            Self::Exponent(power) => *power as i32 >= -9,
        }
    }
}

fn read_suffix(text: &str) -> Result<Suffix, QuantityProblem> {
    check_shape(text)?;
    let decimal = |power| Ok(Suffix::Decimal(power));
    let binary = |bits| Ok(Suffix::Binary(bits));
    match text {
        "" => decimal(0),
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(10),
        "Mi" => binary(20),
        "Gi" => binary(30),
        "Ti" => binary(40),
        "Pi" => binary(50),
        "Ei" => binary(60),
        _ => {
            let power = text.strip_prefix(['e', 'E']).ok_or(QuantityProblem::Suffix)?;
            power.parse().map(Suffix::Exponent).map_err(|_| QuantityProblem::Suffix)
        }
    }
}

/// Suffix letters, then a sign, then digits, each optional. Tells a foreign character from a wrong suffix.
fn check_shape(text: &str) -> Result<(), QuantityProblem> {
    let letters = prefix_length(text.as_bytes(), |byte| b"eEinumkKMGTP".contains(&byte));
    let rest = &text[letters..];
    let rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let (_, rest) = split_digits(rest);
    match rest.chars().next() {
        None => Ok(()),
        Some(character) => Err(QuantityProblem::Character(character)),
    }
}

/// The digits before and after the point. `None` from its methods means: more than the maximum.
struct Number<'a> {
    whole: &'a [u8],
    fraction: &'a [u8],
}

/// Ten to this power in nano units is above [`NANO_MAX`], and below it everything fits 128 bits.
const NANO_DIGITS_MAX: i128 = 28;

/// Digits of a fraction that can matter before a binary suffix: a multiple of a nano divided by 2^60 ends
/// there.
const BINARY_FRACTION_DIGITS_MAX: usize = 60 + 9;

impl Number<'_> {
    fn times_power_of_ten(&self, power: i128) -> Option<i128> {
        let whole = strip_zeros(self.whole);
        let fraction = if whole.is_empty() { strip_zeros(self.fraction) } else { self.fraction };
        let significant = (whole.len() + fraction.len()) as i128;
        if significant == 0 {
            return Some(0);
        }
        // How many digits stand before the nano's place.
        let places = significant - self.fraction.len() as i128 + power + 9;
        if places > NANO_DIGITS_MAX {
            return None;
        }
        let taken = places.clamp(0, significant);
        let mut digits = whole.iter().chain(fraction);
        let nano = digits.by_ref().take(taken as usize).fold(0, append_digit);
        let nano = nano * 10_i128.pow((places.max(0) - taken) as u32);
        let remainder = digits.any(|digit| *digit != b'0');
        within_max(nano + i128::from(remainder))
    }

    fn times_power_of_two(&self, bits: u32) -> Option<i128> {
        let whole = strip_zeros(self.whole);
        if whole.len() > 19 {
            return None;
        }
        let units = whole.iter().fold(0, append_digit) << bits;
        if units > i128::from(i64::MAX) {
            return None;
        }
        let step = super::NANO_PER_UNIT << bits;
        let (used, unused) = self.fraction.split_at(self.fraction.len().min(BINARY_FRACTION_DIGITS_MAX));
        let mut remainder = !strip_zeros(unused).is_empty();
        // From the last digit to the first, so that each division by ten is of a small number.
        let mut nano = 0;
        for digit in used.iter().rev() {
            nano += i128::from(digit - b'0') * step;
            remainder |= nano % 10 != 0;
            nano /= 10;
        }
        within_max(units * super::NANO_PER_UNIT + nano + i128::from(remainder))
    }
}

fn strip_zeros(digits: &[u8]) -> &[u8] {
    &digits[prefix_length(digits, |digit| digit == b'0')..]
}

fn append_digit(number: i128, digit: &u8) -> i128 {
    number * 10 + i128::from(digit - b'0')
}

fn within_max(nano: i128) -> Option<i128> {
    (nano <= NANO_MAX).then_some(nano)
}
