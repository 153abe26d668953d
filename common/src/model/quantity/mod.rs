//! Quantities as Kubernetes writes them: `500m`, `1Gi`, `1e3`. Integers inside, never floats.
//!
//! Two grammars, on purpose. [`Quantity::parse`] reads what the API server stores on pods and nodes and
//! refuses exactly what Kubernetes refuses. [`parse_amount`] reads the value of a `reserve.*` annotation,
//! which anyone may have typed, and takes only what cannot be misread.
//!
//! Where this differs from Kubernetes' own quantity, and why:
//!
//! - A magnitude above `i64::MAX` becomes `i64::MAX`, whatever the suffix. Kubernetes does so for binary
//!   suffixes only; for decimal ones it keeps every digit and then wraps (`2000E` prints `2`, `10E` counts as
//!   0, `1e4294967297` is 10) or computes for ever (`1e2147483647`). "Fits nowhere" is the only safe reading.
//! - [`Quantity::value`] and [`Quantity::milli_value`] round away from zero also below zero. Kubernetes'
//!   answer for a negative fraction depends on how it was spelled.
//! - Printing always gives the canonical form. Kubernetes repeats some other spellings (`+5`, `5.`, `1.500`,
//!   `1e0`) until the first sum.
//!
//! Kubernetes trims white space when it decodes JSON, before this grammar; [`Quantity::parse`] does not trim.
//!
//! Knows nothing of: which resource is counted (except in [`parse_amount`]), pods, nodes, JSON.

mod amount;
mod error;
mod parse;
mod print;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

pub use amount::{AMOUNT_LENGTH_MAX, AmountError, AmountProblem, parse_amount};
pub use error::{QuantityError, QuantityProblem};

/// The finest step there is: one unit is a thousand million of it.
const NANO_PER_UNIT: i128 = 1_000_000_000;

const NANO_PER_MILLI: i128 = 1_000_000;

/// The largest magnitude there is. One number for all suffixes: see the module's first difference.
const NANO_MAX: i128 = i64::MAX as i128 * NANO_PER_UNIT;

/// A quantity: how much, and in which notation to print it.
///
/// Equality, order and hash look at the amount alone: `1000m` equals `1`, `1Ki` equals `1024`.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    /// Always within `-NANO_MAX..=NANO_MAX`, so that sums of two cannot overflow.
    nano: i128,
    format: Format,
}

/// The notation of a quantity: that of the text it was parsed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// `n u m k M G T P E`, or no suffix at all.
    DecimalSi,
    /// `Ki Mi Gi Ti Pi Ei`; printed as [`Format::DecimalSi`] below 1024 and for fractions, where it would
    /// lose digits.
    BinarySi,
    /// `12e6`.
    DecimalExponent,
}

impl Quantity {
    /// Nothing.
    pub const ZERO: Self = Self { nano: 0, format: Format::DecimalSi };

    /// Reads the grammar of Kubernetes. Costs one pass over the text, whatever exponent it names, and no
    /// memory.
    ///
    /// More digits than a nano can tell are rounded up, so that whoever asks for something gets something.
    ///
    /// # Errors
    /// When Kubernetes would refuse the text too.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        match parse::scan(text) {
            Ok(scanned) => Ok(Self { nano: scanned.nano, format: scanned.format }),
            Err(problem) => Err(QuantityError::new(text, problem)),
        }
    }

    /// Thousandths, as cpu is counted: `from_milli(1500)` prints `1500m`, `from_milli(2000)` prints `2`.
    pub const fn from_milli(milli: i64) -> Self {
        Self { nano: milli as i128 * NANO_PER_MILLI, format: Format::DecimalSi }
    }

    /// Whole things, such as pods or devices: `from_units(2000)` prints `2k`.
    pub const fn from_units(units: i64) -> Self {
        Self { nano: clamp(units as i128 * NANO_PER_UNIT), format: Format::DecimalSi }
    }

    /// Bytes, as memory is written: `from_bytes(128 << 20)` prints `128Mi`.
    pub const fn from_bytes(bytes: i64) -> Self {
        Self { nano: clamp(bytes as i128 * NANO_PER_UNIT), format: Format::BinarySi }
    }

    /// Whole units, rounded away from zero.
    pub fn value(&self) -> i64 {
        self.rounded(NANO_PER_UNIT)
    }

    /// Thousandths, rounded away from zero; saturates where a thousandfold does not fit.
    pub fn milli_value(&self) -> i64 {
        self.rounded(NANO_PER_MILLI)
    }

    /// The notation this quantity prints in, where that loses nothing.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether the amount is nothing.
    pub fn is_zero(&self) -> bool {
        self.nano == 0
    }

    /// The sum, saturating. Nothing plus something takes the notation of the something.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        Self { nano: clamp(self.nano + other.nano), format }
    }

    /// The difference, saturating; may fall below zero.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        Self { nano: clamp(self.nano - other.nano), format }
    }

    fn rounded(&self, step: i128) -> i64 {
        let away = if self.nano % step == 0 { 0 } else { self.nano.signum() };
        let steps = (self.nano / step + away).clamp(-(i64::MAX as i128), i64::MAX as i128);
        steps as i64
    }
}

impl Default for Quantity {
    fn default() -> Self {
        Self::ZERO
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Self::parse(text)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nano == other.nano
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nano.cmp(&other.nano)
    }
}

impl Hash for Quantity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.nano.hash(state);
    }
}

const fn clamp(nano: i128) -> i128 {
    if nano > NANO_MAX {
        NANO_MAX
    } else if nano < -NANO_MAX {
        -NANO_MAX
    } else {
        nano
    }
}
