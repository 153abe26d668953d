//! `bugs [NAME…]` puts famous bugs back, one at a time, and looks whether the tests that are named beside each see it.
//!
//! Each file in `tests/bugs` begins with what the bug does and with the commands that have to fail while it is there; the
//! rest is a patch. All of it happens in a copy of the sources. `make bugs` runs it.
#![forbid(unsafe_code)]

use anyhow::{Context as _, Result, bail, ensure};
use reserve_tests::bugs::{Bug, all};
use reserve_tests::control_plane::workspace_dir;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

fn main() -> ExitCode {
    match look() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whether every bug is seen by every test that is named for it.
fn look() -> Result<bool> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let bugs: Vec<Bug> =
        all()?.into_iter().filter(|bug| wanted.is_empty() || wanted.contains(&bug.name)).collect();
    ensure!(!bugs.is_empty(), "no bug of that name");
    let copy = Copy::make()?;
    let mut out = std::io::stdout();
    let mut are_seen = true;
    for bug in &bugs {
        for check in &bug.caught_by {
            copy.run(check, true).with_context(|| format!("{check}: does not pass without the bug"))?;
        }
        copy.patch(bug, &[])?;
        for check in &bug.caught_by {
            let is_seen = copy.run(check, false).is_ok();
            are_seen &= is_seen;
            writeln!(out, "{:<28} {}  {check}", bug.name, if is_seen { "seen" } else { "MISSED" })?;
        }
        copy.patch(bug, &["--reverse"])?;
    }
    Ok(are_seen)
}

/// A copy of the sources.
struct Copy {
    sources: PathBuf,
    target: PathBuf,
}

impl Copy {
    /// Copies what git knows of. Files that have not changed keep their time, so that little is built anew.
    fn make() -> Result<Self> {
        let from = workspace_dir();
        let base = from.join("target").join("bugs");
        let (sources, target) = (base.join("sources"), base.join("target"));
        std::fs::create_dir_all(&sources).context("make a folder for the copy")?;
        let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(from).output().context("git ls-files")?;
        ensure!(listed.status.success(), "git ls-files ended with {}", listed.status);
        let names = String::from_utf8(listed.stdout).context("file names in another encoding")?;
        for name in names.split('\0').filter(|name| !name.is_empty()) {
            copy(&from.join(name), &sources.join(name)).with_context(|| format!("copy {name}"))?;
        }
        Ok(Self { sources, target })
    }

    fn patch(&self, bug: &Bug, more: &[&str]) -> Result<()> {
        let mut command = Command::new("git");
        command.arg("apply").args(more).arg(&bug.path).current_dir(&self.sources);
        // The copy lies within the repository, whose own files are not meant.
        command.env("GIT_CEILING_DIRECTORIES", self.sources.parent().unwrap_or(&self.sources));
        let status = command.status().context("git apply")?;
        ensure!(status.success(), "{}: the patch does not apply", bug.name);
        Ok(())
    }

    /// Runs a check, which must pass or must fail: also by hanging, but not because it could not be built.
    fn run(&self, check: &str, must_pass: bool) -> Result<()> {
        let mut words = check.split_whitespace();
        ensure!(words.next() == Some("cargo"), "{check}: not a command of cargo");
        let words: Vec<&str> = words.collect();
        let (options, rest) = words.split_at(words.iter().position(|word| *word == "--").unwrap_or(words.len()));
        let build: Vec<&str> = match options.split_first() {
            Some((&"run", options)) => [&["build"], options].concat(),
            Some((&"test", _)) => [options, &["--no-run"]].concat(),
            _ => bail!("{check}: neither cargo test nor cargo run"),
        };
        ensure!(self.cargo(&build)?, "{check}: it does not compile");
        let passes = self.cargo(&[options, rest].concat())?;
        ensure!(passes == must_pass, if passes { "it passes" } else { "it fails" });
        Ok(())
    }

    fn cargo(&self, words: &[&str]) -> Result<bool> {
        let mut command = Command::new("cargo");
        command.args(words).current_dir(&self.sources).env("CARGO_TARGET_DIR", &self.target);
        // What the bug prints while it is looked for is of no interest.
        let output = command.stdin(Stdio::null()).output().context("run cargo")?;
        Ok(output.status.success())
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let new = std::fs::read(from)?;
    if std::fs::read(to).is_ok_and(|old| old == new) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(to, new)?;
    Ok(())
}
