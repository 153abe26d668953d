//! What is wrong with a file, what is only worth a word, and how both are said.

use std::fmt;

use crate::model::excerpt::excerpt;

/// Errors and warnings beyond these are counted, not kept: one mistake in an anchor can be a thousand.
const ERRORS_MAX: usize = 20;
const WARNINGS_MAX: usize = 100;

/// As much of a foreign text as an error shows.
const SHOWN_LEN_MAX: usize = 60;
const FILE_LEN_MAX: usize = 200;

/// One thing about a file: where, as `profiles[0].plugins.score.enabled[2].name`, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The field; empty when it is about the file as a whole.
    pub path: String,
    /// What was found there, and what was expected or done.
    pub what: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.what);
        }
        write!(f, "{}: {}", self.path, self.what)
    }
}

/// Why a file cannot be used: everything that is wrong with it, so that one run of the editor mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, as the caller named it.
    pub file: String,
    /// What is wrong.
    pub errors: Vec<Note>,
    /// How many more there were.
    pub left_off: usize,
    /// The file's meaning in a form that loads, when the file is of a kind that is no longer read.
    pub instead: Option<String>,
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
        self.instead.iter().try_for_each(|text| write!(f, "\n\n{text}"))
    }
}

impl std::error::Error for ConfigError {}

/// Collects errors and warnings while a file is read.
#[derive(Debug, Default)]
pub(super) struct Findings {
    errors: Vec<Note>,
    left_off: usize,
    warnings: Vec<Note>,
}

impl Findings {
    pub(super) fn error(&mut self, path: &str, what: impl Into<String>) {
        let note = Note { path: path.to_owned(), what: what.into() };
        if self.errors.contains(&note) {
            return;
        }
        if self.errors.len() < ERRORS_MAX {
            self.errors.push(note);
        } else {
            self.left_off += 1;
        }
    }

    pub(super) fn warn(&mut self, path: &str, what: impl Into<String>) {
        let note = Note { path: path.to_owned(), what: what.into() };
        if self.warnings.len() < WARNINGS_MAX && !self.warnings.contains(&note) {
            self.warnings.push(note);
        }
    }

    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// The warnings, or why the file cannot be used.
    pub(super) fn finish(self, file: &str, instead: Option<String>) -> Result<Vec<Note>, ConfigError> {
        if self.errors.is_empty() {
            return Ok(self.warnings);
        }
        Err(ConfigError { file: file.to_owned(), errors: self.errors, left_off: self.left_off, instead })
    }
}

/// A foreign text in quotes, cut and escaped.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", excerpt(text, SHOWN_LEN_MAX))
}
