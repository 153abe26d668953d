//! Famous bugs of schedulers and of what keeps room for pods, as patches in `tests/bugs`, and what catches each.
//!
//! A file begins with what the bug does, goes on with the commands that fail while it is there, and ends with the patch.
//! [`Copy`] is where they are put back.

mod check;
mod copy;

use crate::control_plane::workspace_dir;
use anyhow::{Context as _, Result, ensure};
pub use check::{Check, Kind};
pub use copy::{Copy, Said};
use std::fmt::Write as _;
use std::path::PathBuf;

/// How each line that names a check begins.
const CAUGHT_BY: &str = "Caught by: ";

/// How the table in docs/simulation.md begins.
const TABLE: &str = "| bug | test | seed |\n|---|---|---|\n";

/// One of them.
#[derive(Clone, Debug)]
pub struct Bug {
    /// What its file is called.
    pub name: String,
    /// Where that is.
    pub path: PathBuf,
    /// What it does.
    pub what: String,
    /// What fails while it is there.
    pub caught_by: Vec<Check>,
}

/// All of them, by name.
///
/// # Errors
/// When a file cannot be read, or says not what catches it.
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

    /// Names another seed in the place of one.
    ///
    /// # Errors
    /// When its file cannot be written.
    pub fn replace(&mut self, old: &Check, new: &Check) -> Result<()> {
        let text = std::fs::read_to_string(&self.path).with_context(|| format!("read {}", self.name))?;
        let line = |check: &Check| format!("{CAUGHT_BY}{}\n", check.command);
        std::fs::write(&self.path, text.replacen(&line(old), &line(new), 1))
            .with_context(|| format!("write {}", self.name))?;
        self.caught_by.iter_mut().filter(|check| *check == old).for_each(|check| *check = new.clone());
        Ok(())
    }

    /// Its line in the table.
    fn row(&self) -> String {
        let of = |is_seed: bool| {
            let checks = self.caught_by.iter().filter(|check| check.is_seed() == is_seed);
            checks.map(|check| format!("`{}`", check.name())).collect::<Vec<_>>().join(", ")
        };
        let number = self.name.split('-').next().unwrap_or_default();
        format!("| {number} {} | {} | {} |\n", self.what, of(false), of(true))
    }
}

/// docs/simulation.md with the table that these bugs make.
///
/// # Errors
/// When there is no table in it.
pub fn documented(docs: &str, bugs: &[Bug]) -> Result<String> {
    let (before, rest) = docs.split_once(TABLE).context("docs/simulation.md has no table of bugs")?;
    let rows: usize = rest.split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
    let mut text = format!("{before}{TABLE}");
    bugs.iter().try_for_each(|bug| text.write_str(&bug.row()))?;
    Ok(text + &rest[rows..])
}
