//! Why a text is not a quantity, as one short line.
//!
//! The text may come from an untrusted source and be a quarter of a megabyte long, and the line is shown in events, conditions and
//! terminals. So only an escaped excerpt of the text is kept.

use crate::model::excerpt::excerpt;

/// How many characters of untrusted text a message may show.
pub(super) const EXCERPT_LENGTH_MAX: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{excerpt}` is not a quantity: {problem}")]
pub struct QuantityError {
    excerpt: Box<str>,
    problem: QuantityProblem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuantityProblem {
    #[error("it is empty")]
    Empty,
    /// The text has a character that no quantity has in this position.
    #[error("unexpected `{}`", .0.escape_default())]
    Character(char),
    /// The part after the number has the right characters but is not a suffix.
    #[error("the suffix is none of n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3")]
    Suffix,
    /// There is a suffix but no number, and Kubernetes does not read this suffix alone as 0.
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
