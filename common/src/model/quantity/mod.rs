//! Quantities as Kubernetes writes them: `500m`, `1Gi`, `1e3`. Stored as integers, never as floats.
//!
//! There are two grammars. [`Quantity::parse`] reads what the API server stores on pods and nodes and refuses exactly what
//! Kubernetes refuses. [`parse_amount`] reads the value of a `reserve.*` annotation, which may be written by hand, and accepts only
//! what cannot be misread.
//!
//! Differences from Kubernetes' own quantity, and their reasons:
//!
//! - A magnitude above `i64::MAX` becomes `i64::MAX` with every suffix. Kubernetes does so for binary suffixes only. For decimal
//!   suffixes it keeps every digit and then wraps (`2000E` prints `2`, `10E` counts as 0, `1e4294967297` is 10) or computes for
//!   ever (`1e2147483647`). Only an amount that fits on no node is safe.
//! - [`Quantity::value`] and [`Quantity::milli_value`] round away from zero also below zero. Kubernetes' result
//!   for a negative fraction depends on its spelling.
//! - Printing always gives the canonical form. Kubernetes prints some other spellings (`+5`, `5.`, `1.500`, `1e0`) unchanged
//!   until the first addition.
//!
//! Kubernetes trims white space when it decodes JSON, before this grammar; [`Quantity::parse`] does not trim.
//!
//! Must not know: which resource is counted (except in [`parse_amount`]), pods, nodes, JSON.

mod amount;
mod error;
mod parse;
mod print;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

pub use amount::{AMOUNT_LENGTH_MAX, AmountError, AmountProblem, parse_amount};
pub use error::{QuantityError, QuantityProblem};

/// The smallest step is a nano, a thousand-millionth of a unit.
const NANO_PER_UNIT: i128 = 1_000_000_000;

const NANO_PER_MILLI: i128 = 1_000_000;

/// The largest magnitude, the same for all suffixes: see the first difference in the module's documentation.
const NANO_MAX: i128 = i64::MAX as i128 * NANO_PER_UNIT;

/// A quantity: an amount, and the notation in which it is printed.
///
/// Equality, order and hash depend on the amount alone: `1000m` equals `1`, `1Ki` equals `1024`.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    /// Always within `-NANO_MAX..=NANO_MAX`, so that the sum of two quantities cannot overflow.
    nano: i128,
    format: Format,
}

/// The notation of a quantity: the notation of the text from which it was parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// `n u m k M G T P E`, or no suffix at all.
    DecimalSi,
    /// `Ki Mi Gi Ti Pi Ei`. Amounts below 1024 and fractions are printed as [`Format::DecimalSi`], because digits would be lost.
    BinarySi,
    /// An exponent, such as `12e6`.
    DecimalExponent,
}

impl Quantity {
    pub const ZERO: Self = Self { nano: 0, format: Format::DecimalSi };

    /// Reads a quantity by the grammar of Kubernetes, in one pass over the text for any exponent, and without allocating.
    ///
    /// Digits below a nano are rounded up, so that a request for more than zero is never zero.
    ///
    /// # Errors
    /// If Kubernetes refuses the text, too.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        match parse::scan(text) {
            Ok(scanned) => Ok(Self { nano: scanned.nano, format: scanned.format }),
            Err(problem) => Err(QuantityError::new(text, problem)),
        }
    }

    /// From thousandths, the unit of cpu: `from_milli(1500)` prints `1500m`, `from_milli(2000)` prints `2`.
    pub const fn from_milli(milli: i64) -> Self {
        Self { nano: milli as i128 * NANO_PER_MILLI, format: Format::DecimalSi }
    }

    /// From whole units, such as pods or devices: `from_units(2000)` prints `2k`.
    pub const fn from_units(units: i64) -> Self {
        Self { nano: clamp(units as i128 * NANO_PER_UNIT), format: Format::DecimalSi }
    }

    /// From bytes, in the notation of memory: `from_bytes(128 << 20)` prints `128Mi`.
    pub const fn from_bytes(bytes: i64) -> Self {
        Self { nano: clamp(bytes as i128 * NANO_PER_UNIT), format: Format::BinarySi }
    }

    /// The amount in whole units, rounded away from zero.
    pub fn value(&self) -> i64 {
        self.rounded(NANO_PER_UNIT)
    }

    /// The amount in thousandths, rounded away from zero; saturates at the limits of `i64`.
    pub fn milli_value(&self) -> i64 {
        self.rounded(NANO_PER_MILLI)
    }

    /// The notation in which this quantity is printed, unless digits would be lost.
    pub fn format(&self) -> Format {
        self.format
    }

    pub fn is_zero(&self) -> bool {
        self.nano == 0
    }

    /// The sum, saturating. If `self` is zero, the sum has the notation of `other`.
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
