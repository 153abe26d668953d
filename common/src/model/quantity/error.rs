//! Why a text is not a quantity, said in one short line.
//!
//! The text may come from anybody and be a quarter of a megabyte of anything, and the line ends up in events,
//! conditions and terminals. So no more than an escaped excerpt of it is ever kept.

use crate::model::excerpt::excerpt;

/// Characters of foreign text that a message may show.
pub(super) const EXCERPT_LENGTH_MAX: usize = 40;

/// A text that is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{excerpt}` is not a quantity: {problem}")]
pub struct QuantityError {
    excerpt: Box<str>,
    problem: QuantityProblem,
}

/// What is wrong with a text that is not a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuantityProblem {
    /// There is no text.
    #[error("it is empty")]
    Empty,
    /// A character that no quantity has, or not in that place.
    #[error("unexpected `{}`", .0.escape_default())]
    Character(char),
    /// Well shaped, but the part after the number means nothing.
    #[error("the suffix is none of n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3")]
    Suffix,
    /// There is a suffix but no number, and the suffix is one with which Kubernetes does not read that as 0.
    #[error("it has no digits")]
    Digits,
}

impl QuantityError {
    pub(super) fn new(text: &str, problem: QuantityProblem) -> Self {
        Self { excerpt: excerpt(text, EXCERPT_LENGTH_MAX).into(), problem }
    }

    /// What is wrong, for callers that count or compare.
    pub fn problem(&self) -> QuantityProblem {
        self.problem
    }
}
