//! Well-known bugs of schedulers and of reservations as patches in `tests/bugs`, each with the checks that catch it.
//!
//! A file begins with what the bug does, goes on with the commands that fail while the bug is in the code, and ends with the
//! patch. [`all`] reads the files; [`SourceCopy`] applies a patch and runs a check.

mod check;
mod copy;

use crate::control_plane::workspace_dir;
use anyhow::{Context as _, Result, ensure};
pub use check::{Check, CheckKind};
pub use copy::{CheckResult, SourceCopy};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The prefix of each line that names a check.
const CAUGHT_BY: &str = "Caught by: ";

/// The header of the table in docs/simulation.md.
const TABLE: &str = "| bug | test | seed |\n|---|---|---|\n";

/// One file of `tests/bugs`.
#[derive(Clone, Debug)]
pub struct Bug {
    /// The file name without `.patch`.
    pub name: String,
    /// The path of the file.
    pub path: PathBuf,
    /// What the bug does, in one sentence.
    pub what: String,
    /// The checks that fail while the bug is in the code.
    pub caught_by: Vec<Check>,
}

/// All bugs, sorted by name.
///
/// # Errors
/// When a file cannot be read, or does not say what catches the bug.
pub fn all() -> Result<Vec<Bug>> {
    let folder = workspace_dir().join("tests").join("bugs");
    let mut bugs = Vec::new();
    for entry in std::fs::read_dir(&folder).context("read tests/bugs")? {
        let path = entry.context("read tests/bugs")?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let bug = Bug::read(name.clone(), path).with_context(|| format!("tests/bugs/{name}.patch"))?;
        bugs.push(bug);
    }
    bugs.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(bugs)
}

impl Bug {
    fn read(name: String, path: PathBuf) -> Result<Self> {
        let text = std::fs::read_to_string(&path)?;
        let mut head = text.lines().take_while(|line| !line.is_empty());
        let what = head.next().context("it is empty")?.to_owned();
        let caught_by = head.map(|line| {
            let command = line.strip_prefix(CAUGHT_BY).with_context(|| format!("not a check: {line}"))?;
            Check::parse(command)
        });
        let caught_by: Vec<Check> = caught_by.collect::<Result<_>>()?;
        ensure!(!caught_by.is_empty(), "it does not say what catches it");
        Ok(Self { name, path, what, caught_by })
    }

    /// Replaces one check by another, also in the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn replace(&mut self, old: &Check, new: &Check) -> Result<()> {
        let text = std::fs::read_to_string(&self.path).with_context(|| format!("read {}", self.name))?;
        let line = |check: &Check| format!("{CAUGHT_BY}{}\n", check.command);
        std::fs::write(&self.path, text.replacen(&line(old), &line(new), 1))
            .with_context(|| format!("write {}", self.name))?;
        self.caught_by.iter_mut().filter(|check| *check == old).for_each(|check| *check = new.clone());
        Ok(())
    }

    /// The line of this bug in the table.
    fn row(&self) -> String {
        let of = |is_seed: bool| {
            let checks = self.caught_by.iter().filter(|check| check.is_seed() == is_seed);
            checks.map(|check| format!("`{}`", check.name())).collect::<Vec<_>>().join(", ")
        };
        let number = self.name.split('-').next().unwrap_or_default();
        format!("| {number} {} | {} | {} |\n", self.what, of(false), of(true))
    }
}

/// docs/simulation.md with the table for these bugs.
///
/// # Errors
/// When the document has no such table.
pub fn documented(docs: &str, bugs: &[Bug]) -> Result<String> {
    let (before, rest) = docs.split_once(TABLE).context("docs/simulation.md has no table of bugs")?;
    let rows: usize = rest.split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
    let mut text = format!("{before}{TABLE}");
    bugs.iter().try_for_each(|bug| text.write_str(&bug.row()))?;
    Ok(text + &rest[rows..])
}
