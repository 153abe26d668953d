//! The errors and warnings about a file, and how they are printed.

use std::fmt;

use crate::model::excerpt::excerpt;

/// Errors beyond this are only counted: one error in an anchor can appear a thousand times.
const ERRORS_MAX: usize = 20;
const WARNINGS_MAX: usize = 100;

/// How much of a text from the file an error shows.
const SHOWN_LEN_MAX: usize = 60;
const FILE_LEN_MAX: usize = 200;

/// One error or warning about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The field, as `profiles[0].plugins.score.enabled[2].name`; empty for the file as a whole.
    pub path: String,
    /// What the field has, and what was expected or done.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Why a file cannot be used: all its errors, so that they can be corrected at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    pub file: String,
    pub errors: Vec<Finding>,
    pub left_off: usize,
    /// A file that loads and has the same meaning, if the file is of a kind that is no longer read.
    pub replacement: Option<String>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", excerpt(&self.file, FILE_LEN_MAX))?;
        match &self.errors[..] {
            [only] => write!(f, " {only}")?,
            all => {
                write!(f, " {} errors", all.len() + self.left_off)?;
                all.iter().try_for_each(|error| write!(f, "\n  {error}"))?;
            }
        }
        if self.left_off > 0 {
            write!(f, "\n  and {} more", self.left_off)?;
        }
        self.replacement.iter().try_for_each(|text| write!(f, "\n\n{text}"))
    }
}

impl std::error::Error for ConfigError {}

/// Collects errors and warnings while a file is read.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    errors: Vec<Finding>,
    left_off: usize,
    warnings: Vec<Finding>,
}

impl Findings {
    pub(super) fn error(&mut self, path: &str, message: impl Into<String>) {
        let finding = Finding { path: path.to_owned(), message: message.into() };
        if self.errors.contains(&finding) {
            return;
        }
        if self.errors.len() < ERRORS_MAX {
            self.errors.push(finding);
        } else {
            self.left_off += 1;
        }
    }

    pub(super) fn warn(&mut self, path: &str, message: impl Into<String>) {
        let finding = Finding { path: path.to_owned(), message: message.into() };
        if self.warnings.len() < WARNINGS_MAX && !self.warnings.contains(&finding) {
            self.warnings.push(finding);
        }
    }

    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    pub(super) fn finish(self, file: &str, replacement: Option<String>) -> Result<Vec<Finding>, ConfigError> {
        if self.errors.is_empty() {
            return Ok(self.warnings);
        }
        Err(ConfigError { file: file.to_owned(), errors: self.errors, left_off: self.left_off, replacement })
    }
}

/// A text from the file in quotes, shortened and escaped.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", excerpt(text, SHOWN_LEN_MAX))
}
