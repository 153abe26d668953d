//! The output of `doctor`: a line for each check, with a cure where one is needed.

#[cfg(test)]
mod tests;

use super::{plural, wrapped};
use crate::error::Failure;
use crate::print::Printable;
use crate::render::json::API_VERSION;
use crate::ui::{Paint, Tone};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The width that text is wrapped at.
const WIDTH: usize = 80;

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Ok,
    /// Information; nothing has to be done.
    Note,
    Warn,
    Fail,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) level: Level,
    pub(crate) message: String,
    /// What to do about it: a command or a sentence.
    pub(crate) cure: Option<String>,
}

/// The results of all checks.
#[derive(Debug)]
pub(crate) struct DoctorReport {
    pub(crate) checks: Vec<Check>,
    /// The API server's time; the local time if the server did not answer.
    pub(crate) at: Timestamp,
    pub(crate) paint: Paint,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    fn tone(self) -> Tone {
        match self {
            Self::Ok => Tone::Good,
            Self::Note => Tone::Quiet,
            Self::Warn => Tone::Careful,
            Self::Fail => Tone::Bad,
        }
    }
}

impl Check {
    pub(crate) fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, level: Level::Ok, message: message.into(), cure: None }
    }

    pub(crate) fn note(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, level: Level::Note, message: message.into(), cure: None }
    }

    pub(crate) fn warn(name: &'static str, message: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { name, level: Level::Warn, message: message.into(), cure: Some(cure.into()) }
    }

    pub(crate) fn fail(name: &'static str, message: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { name, level: Level::Fail, message: message.into(), cure: Some(cure.into()) }
    }

    /// `warn  kubectl: message`, and the cure on the next line, not wrapped: it may be a command.
    fn text(&self, paint: Paint) -> String {
        let word = self.level.word();
        let gap = " ".repeat(6 - word.len());
        let indent = " ".repeat(6);
        let said = wrapped(&format!("{}: {}", self.name, self.message), &indent, WIDTH);
        let mut text = format!("{}{gap}{}", paint.paint(self.level.tone(), word), said.trim_start());
        if let Some(cure) = &self.cure {
            text.push_str(&format!("{indent}cure: {cure}\n"));
        }
        text
    }
}

impl DoctorReport {
    /// How many checks have this result.
    pub(crate) fn count(&self, level: Level) -> usize {
        self.checks.iter().filter(|check| check.level == level).count()
    }
}

impl Printable for DoctorReport {
    fn table(&self, _: bool, _: bool) -> String {
        let mut text: String = self.checks.iter().map(|check| check.text(self.paint)).collect();
        let (good, warned, failed) =
            (self.count(Level::Ok), self.count(Level::Warn), self.count(Level::Fail));
        text.push_str(&format!("\n{good} ok, {}, {failed} failed\n", plural(warned, "warning")));
        text
    }

    fn names(&self) -> Vec<String> {
        self.checks.iter().map(|check| format!("check/{}", check.name)).collect()
    }

    fn document(&self) -> Result<Value, Failure> {
        let item = |check: &Check| {
            let mut item = json!({
                "metadata": { "name": check.name }, "level": check.level.word(), "message": check.message,
            });
            if let Some(cure) = &check.cure {
                item["cure"] = cure.as_str().into();
            }
            item
        };
        Ok(json!({
            "apiVersion": API_VERSION,
            "kind": "DoctorReport",
            "metadata": { "generatedAt": self.at.to_string() },
            "items": self.checks.iter().map(item).collect::<Vec<_>>(),
            "summary": {
                "ok": self.count(Level::Ok), "note": self.count(Level::Note), "warn": self.count(Level::Warn),
                "fail": self.count(Level::Fail),
            },
        }))
    }
}
