//! A copy of the sources with a target folder of its own. [`SourceCopy::make`] makes it, [`SourceCopy::patch`] puts a bug back,
//! [`SourceCopy::run`] builds and runs a check.

use super::{Bug, Check, CheckKind};
use crate::control_plane::workspace_dir;
use crate::programs;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A check that takes longer is stopped, and counts as not run.
const CHECK_MAX: Duration = Duration::from_secs(300);

/// How often a running check is polled for its end.
const PAUSE: Duration = Duration::from_millis(20);

/// How long the search for a failing seed may take.
const SEARCH_MAX: Duration = Duration::from_secs(1200);

const SIMULATOR: [&str; 4] = ["-p", "reserve-tests", "--bin", "simulate"];

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckResult {
    /// The check passes.
    Passes,
    /// The check fails with this message.
    Fails(String),
    /// The check neither passed nor failed, for this reason.
    Inconclusive(String),
}

/// A copy of the sources, with a target folder of its own.
pub struct SourceCopy {
    base: PathBuf,
    /// Programs built since the sources last changed, by the arguments given to cargo.
    built: BTreeMap<Vec<String>, BuiltProgram>,
}

#[derive(Debug, Clone)]
struct BuiltProgram {
    path: PathBuf,
    folder: PathBuf,
}

impl SourceCopy {
    /// Copies tracked files and new files that git does not ignore. Unchanged files keep their modification time, so that cargo
    /// rebuilds little.
    ///
    /// # Errors
    /// When a file cannot be copied.
    pub fn make() -> Result<Self> {
        let from = workspace_dir();
        let copy = Self { base: from.join("target").join("bugs"), built: BTreeMap::new() };
        let listed = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&from)
            .output()
            .context("git ls-files")?;
        ensure!(listed.status.success(), "git ls-files ended with {}", listed.status);
        let names = String::from_utf8(listed.stdout).context("file names in another encoding")?;
        for name in names.split('\0').filter(|name| from.join(name).is_file()) {
            refresh(&from.join(name), &copy.sources().join(name)).with_context(|| format!("copy {name}"))?;
        }
        Ok(copy)
    }

    fn sources(&self) -> PathBuf {
        self.base.join("sources")
    }

    /// Applies the patch of a bug; `--reverse` in `more` takes it out again.
    ///
    /// # Errors
    /// When the patch does not apply.
    pub fn patch(&mut self, bug: &Bug, more: &[&str]) -> Result<()> {
        self.built.clear();
        let mut command = Command::new("git");
        command.arg("apply").args(more).arg(&bug.path).current_dir(self.sources());
        // The copy lies inside the repository: without this, git would patch the repository's own files.
        command.env("GIT_CEILING_DIRECTORIES", &self.base);
        let output = command.output().context("git apply")?;
        let why = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: the patch does not apply: {why}", bug.name);
        Ok(())
    }

    /// Runs a check.
    ///
    /// # Errors
    /// When its program cannot be built.
    pub fn run(&mut self, check: &Check) -> Result<CheckResult> {
        match &check.kind {
            CheckKind::Test { package, name } => {
                let program = self.build(&["test", "--no-run", "-p", package, "--lib"])?;
                let (code, said) = self.start(&program, &[name, "--exact"], CHECK_MAX)?;
                Ok(test_result(code, &said, name))
            }
            CheckKind::Simulation { tier, option, value } => {
                // The history is the same in any profile, and the dev profile builds fastest.
                let program = self.build(&[&["build"], &SIMULATOR[..]].concat())?;
                let (code, said) = self.start(&program, &[tier, option, value], CHECK_MAX)?;
                Ok(simulation_result(code, &said))
            }
        }
    }

    /// Runs many seeds of a tier until some have failed, and returns the output.
    ///
    /// # Errors
    /// When the simulator cannot be built.
    pub fn search(&mut self, tier: &str) -> Result<String> {
        let optimised = [&["build", "--profile", "simulate"], &SIMULATOR[..]].concat();
        let program = self.build(&optimised)?;
        Ok(self.start(&program, &[tier], SEARCH_MAX)?.1)
    }

    fn build(&mut self, words: &[&str]) -> Result<BuiltProgram> {
        let key: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if let Some(program) = self.built.get(&key) {
            return Ok(program.clone());
        }
        let mut cargo = programs::cargo();
        cargo.args(words).args(["--locked", "--message-format", "json"]).current_dir(self.sources());
        // A bug changes a line or two, so an incremental build reuses most of the last one.
        cargo.env("CARGO_TARGET_DIR", self.base.join("target")).env("CARGO_INCREMENTAL", "1");
        let output = cargo.stdin(Stdio::null()).output().context("run cargo")?;
        let why = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cargo {}: {why}", words.join(" "));
        let said = String::from_utf8_lossy(&output.stdout);
        let program = said.lines().rev().find_map(program).context("cargo names no program")?;
        self.built.insert(key, program.clone());
        Ok(program)
    }

    /// Runs a program. Returns its exit code (`None` if it was killed after `most`) and its output.
    fn start(&self, program: &BuiltProgram, words: &[&str], most: Duration) -> Result<(Option<i32>, String)> {
        let path = self.base.join("said");
        let said = File::create(&path).context("write what a check says")?;
        let mut command = Command::new(&program.path);
        command.args(words).current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder);
        command.stdin(Stdio::null()).stderr(said.try_clone()?).stdout(said);
        let mut child = command.spawn().with_context(|| format!("run {}", program.path.display()))?;
        let mut waited = Duration::ZERO;
        let code = loop {
            if let Some(status) = child.try_wait()? {
                break status.code();
            }
            if waited > most {
                child.kill()?;
                child.wait()?;
                break None;
            }
            std::thread::sleep(PAUSE);
            waited += PAUSE;
        };
        Ok((code, String::from_utf8_lossy(&std::fs::read(&path)?).into_owned()))
    }
}

/// The executable that a JSON line of cargo names, and the folder of its package.
fn program(line: &str) -> Option<BuiltProgram> {
    let message: Value = serde_json::from_str(line).ok()?;
    let path = PathBuf::from(message["executable"].as_str()?);
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    Some(BuiltProgram { path, folder })
}

/// `cargo test` succeeds even if no test has this name: the result counts only if the output has the line of the test.
fn test_result(code: Option<i32>, said: &str, name: &str) -> CheckResult {
    let has = |end: &str| {
        said.lines().any(|line| line.starts_with(&format!("test {name} ")) && line.ends_with(end))
    };
    match code {
        Some(0) if has("ok") => CheckResult::Passes,
        Some(101) if has("FAILED") => {
            let panicked = said.lines().skip_while(|line| !line.contains(" panicked at ")).nth(1);
            CheckResult::Fails(panicked.unwrap_or_default().to_owned())
        }
        None => CheckResult::Inconclusive("it does not end".to_owned()),
        _ => CheckResult::Inconclusive("no such test".to_owned()),
    }
}

/// The last line of the output says how the simulation ended.
fn simulation_result(code: Option<i32>, said: &str) -> CheckResult {
    let last = said.lines().last().unwrap_or_default().to_owned();
    match code {
        Some(0) => CheckResult::Passes,
        Some(1) => CheckResult::Fails(last),
        None => CheckResult::Inconclusive("it does not end".to_owned()),
        Some(_) => CheckResult::Inconclusive(last),
    }
}

fn refresh(from: &Path, to: &Path) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::{CheckResult, simulation_result, test_result};

    #[test]
    fn a_test_passes_or_fails_only_when_it_ran() {
        let result_of = |code, said: &str| test_result(code, said, "a::b");
        assert_eq!(result_of(Some(0), "running 1 test\ntest a::b ... ok\n"), CheckResult::Passes);
        let failed = "test a::b ... FAILED\n\nthread 'a::b' (7) panicked at a.rs:1:2:\nleft is right\n";
        assert_eq!(result_of(Some(101), failed), CheckResult::Fails("left is right".into()));
        for (code, said) in [
            (Some(0), "running 0 tests"),
            (Some(101), "test a::bc ... FAILED"),
            (None, "running 1 test"),
            (Some(1), "test a::b ... ok"),
        ] {
            assert!(matches!(result_of(code, said), CheckResult::Inconclusive(_)), "{said}");
        }
    }

    #[test]
    fn a_simulation_that_could_not_be_run_has_not_failed() {
        assert_eq!(simulation_result(Some(0), "all is well"), CheckResult::Passes);
        assert_eq!(simulation_result(Some(1), "a\nsteps 7: I1"), CheckResult::Fails("steps 7: I1".into()));
        assert_eq!(
            simulation_result(Some(2), "error: usage"),
            CheckResult::Inconclusive("error: usage".into())
        );
        assert!(matches!(simulation_result(None, ""), CheckResult::Inconclusive(_)));
    }
}
