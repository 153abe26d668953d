//! The strict grammar for the amount of a reservation in an annotation. Entry point: [`parse_amount`].
//!
//! Anyone with the right to annotate a node can write an amount by hand. So the grammar accepts what an operator would write
//! (`500m`, `0.5`, `128Mi`, `1Gi`, `1E`) and refuses what is more likely a mistake or an attack: signs, exponents, spaces, zero,
//! parts of a byte (`128m` of memory), and more than the scheduler can count.

use super::error::EXCERPT_LENGTH_MAX;
use super::parse::scan;
use super::{Format, NANO_PER_MILLI, NANO_PER_UNIT, QuantityProblem};
use crate::model::excerpt::excerpt;
use crate::model::resources::ResourceName;

/// The longest amount, in characters. The longest useful amount, all nineteen digits of `i64::MAX` with a suffix, is much shorter.
pub const AMOUNT_LENGTH_MAX: usize = 32;

/// A text that is not a valid amount of a reservation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{excerpt}` is not an amount of {resource}: {problem}")]
pub struct AmountError {
    excerpt: Box<str>,
    resource: Box<str>,
    problem: AmountProblem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AmountProblem {
    /// The text is longer than [`AMOUNT_LENGTH_MAX`].
    #[error("it has {0} characters, more than {AMOUNT_LENGTH_MAX}")]
    Length(usize),
    #[error("{0}")]
    Quantity(QuantityProblem),
    #[error("write it without a sign")]
    Sign,
    #[error("write it without an exponent")]
    Exponent,
    #[error("it must be more than zero")]
    Zero,
    /// The amount is not a whole number of millicores, or of units of another resource.
    #[error("it is not a whole number of the smallest unit, which is {0}")]
    Part(&'static str),
    /// The amount is more than the scheduler can count.
    #[error("it is more than anything can have")]
    TooMuch,
}

impl AmountError {
    /// What is wrong, for callers that count or compare.
    pub fn problem(&self) -> AmountProblem {
        self.problem
    }
}

/// Reads an amount in the scheduler's unit of the resource: milli for cpu, one for every other resource.
///
/// Digits below a nano are rounded up first, as in every quantity.
///
/// # Errors
/// If the text is not a plain, positive amount of whole units.
pub fn parse_amount(resource: &ResourceName, text: &str) -> Result<i64, AmountError> {
    read(resource, text).map_err(|problem| AmountError {
        excerpt: excerpt(text, EXCERPT_LENGTH_MAX).into(),
        resource: excerpt(resource.as_str(), EXCERPT_LENGTH_MAX).into(),
        problem,
    })
}

fn read(resource: &ResourceName, text: &str) -> Result<i64, AmountProblem> {
    if text.len() > AMOUNT_LENGTH_MAX {
        return Err(AmountProblem::Length(text.len()));
    }
    if text.starts_with(['+', '-']) {
        return Err(AmountProblem::Sign);
    }
    let scanned = scan(text).map_err(AmountProblem::Quantity)?;
    if !text.contains(|character: char| character.is_ascii_digit()) {
        return Err(AmountProblem::Quantity(QuantityProblem::Digits));
    }
    let (step, unit) = match resource {
        ResourceName::Cpu => (NANO_PER_MILLI, "1m"),
        _ => (NANO_PER_UNIT, "1"),
    };
    match scanned {
        _ if scanned.format == Format::DecimalExponent => Err(AmountProblem::Exponent),
        _ if scanned.clipped => Err(AmountProblem::TooMuch),
        _ if scanned.nano == 0 => Err(AmountProblem::Zero),
        _ if scanned.nano % step != 0 => Err(AmountProblem::Part(unit)),
        _ => i64::try_from(scanned.nano / step).map_err(|_| AmountProblem::TooMuch),
    }
}
