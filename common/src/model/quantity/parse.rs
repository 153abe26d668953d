//! Reads text into nano units, in one pass and without allocating. Entry point: [`scan`].
//!
//! Digits are counted before any arithmetic: a number with too many digits before the nano's place is the maximum,
//! a number with none is a single nano, and every other number fits 128 bits.

use super::{Format, NANO_MAX, QuantityProblem};

pub(super) struct ScannedQuantity {
    pub(super) nano: i128,
    pub(super) format: Format,
    /// The number in the text is above the maximum.
    pub(super) clipped: bool,
}

/// Reads `sign? digits* (. digits*)? suffix`, refusing what Kubernetes refuses.
pub(super) fn scan(text: &str) -> Result<ScannedQuantity, QuantityProblem> {
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
            // As in Kubernetes, an amount below one unit is not written in powers of 1024.
            let small = matches!(magnitude, Some(nano) if 0 < nano && nano < super::NANO_PER_UNIT);
            (magnitude, if small { Format::DecimalSi } else { Format::BinarySi })
        }
    };
    let clipped = magnitude.is_none();
    let nano = magnitude.unwrap_or(NANO_MAX);
    Ok(ScannedQuantity { nano: if negative { -nano } else { nano }, format, clipped })
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(prefix_length(text.as_bytes(), |byte| byte.is_ascii_digit()))
}

/// How many bytes at the beginning match. Each block is read to its end, so that the compiler can use vector
/// instructions: a hundred kilobytes of digits then take microseconds.
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
    /// Whether Kubernetes reads the suffix without a number before it as zero rather than as an error.
    ///
    /// This is an accident of its code: the fast path does not need digits, and the slow path does. The exponent
    /// is truncated to 32 bits here because it is truncated there.
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

/// Checks for suffix letters, a sign and digits, each optional. Distinguishes a wrong character from a wrong suffix.
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
        // From the last digit to the first, so that each number that is divided by ten is small.
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
