//! A copy of the sources, in which bugs are put back and checks run.

use super::{Bug, Check, Kind};
use crate::control_plane::workspace_dir;
use crate::programs;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A check that takes longer has not seen anything: nobody waits for a test that does not end.
const CHECK_MAX: Duration = Duration::from_secs(300);

/// How often it is looked whether a check has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// How long seeds are looked for.
const SEARCH_MAX: Duration = Duration::from_secs(1200);

const SIMULATOR: [&str; 4] = ["-p", "reserve-tests", "--bin", "simulate"];

/// What a check said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// All is well.
    Passes,
    /// It fails, with these words.
    Fails(String),
    /// Neither, because of this.
    Nothing(String),
}

/// A copy of the sources, with a target folder of its own.
pub struct Copy {
    base: PathBuf,
    /// What was built since the sources last changed, by what was asked of cargo.
    built: BTreeMap<Vec<String>, Program>,
}

#[derive(Debug, Clone)]
struct Program {
    path: PathBuf,
    folder: PathBuf,
}

impl Copy {
    /// Copies what git knows of, or would if it were told. Files that have not changed keep their time, so that little is
    /// built anew.
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

    /// Puts a bug back, or with `--reverse` takes it out again.
    ///
    /// # Errors
    /// When the patch does not apply.
    pub fn patch(&mut self, bug: &Bug, more: &[&str]) -> Result<()> {
        self.built.clear();
        let mut command = Command::new("git");
        command.arg("apply").args(more).arg(&bug.path).current_dir(self.sources());
        // The copy lies within the repository, whose own files are not meant.
        command.env("GIT_CEILING_DIRECTORIES", &self.base);
        let output = command.output().context("git apply")?;
        let why = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: the patch does not apply: {why}", bug.name);
        Ok(())
    }

    /// Runs a check.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn run(&mut self, check: &Check) -> Result<Said> {
        match &check.kind {
            Kind::Test { package, name } => {
                let program = self.build(&["test", "--no-run", "-p", package, "--lib"])?;
                let (code, said) = self.start(&program, &[name, "--exact"], CHECK_MAX)?;
                Ok(test_said(code, &said, name))
            }
            Kind::Simulation { tier, option, value } => {
                // The history is the same in any profile, and this one is built soonest.
                let program = self.build(&[&["build"], &SIMULATOR[..]].concat())?;
                let (code, said) = self.start(&program, &[tier, option, value], CHECK_MAX)?;
                Ok(simulation_said(code, &said))
            }
        }
    }

    /// Lives through many seeds of a tier, until some have failed. What that says.
    ///
    /// # Errors
    /// When the simulator cannot be built.
    pub fn search(&mut self, tier: &str) -> Result<String> {
        let optimised = [&["build", "--profile", "simulate"], &SIMULATOR[..]].concat();
        let program = self.build(&optimised)?;
        Ok(self.start(&program, &[tier], SEARCH_MAX)?.1)
    }

    fn build(&mut self, words: &[&str]) -> Result<Program> {
        let key: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if let Some(program) = self.built.get(&key) {
            return Ok(program.clone());
        }
        let mut cargo = programs::cargo();
        cargo.args(words).args(["--locked", "--message-format", "json"]).current_dir(self.sources());
        // Each bug is a line or two: most of the code stays what it was.
        cargo.env("CARGO_TARGET_DIR", self.base.join("target")).env("CARGO_INCREMENTAL", "1");
        let output = cargo.stdin(Stdio::null()).output().context("run cargo")?;
        let why = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cargo {}: {why}", words.join(" "));
        let said = String::from_utf8_lossy(&output.stdout);
        let program = said.lines().rev().find_map(program).context("cargo names no program")?;
        self.built.insert(key, program.clone());
        Ok(program)
    }

    /// Its exit code, none if it had to be stopped, and what it printed.
    fn start(&self, program: &Program, words: &[&str], most: Duration) -> Result<(Option<i32>, String)> {
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

/// The program that a line of cargo's speaks of, and the folder of its package.
fn program(line: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(line).ok()?;
    let path = PathBuf::from(message["executable"].as_str()?);
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    Some(Program { path, folder })
}

/// A test that is not there passes, too: only one that says so has passed, and only one that says so has failed.
fn test_said(code: Option<i32>, said: &str, name: &str) -> Said {
    let has = |end: &str| {
        said.lines().any(|line| line.starts_with(&format!("test {name} ")) && line.ends_with(end))
    };
    match code {
        Some(0) if has("ok") => Said::Passes,
        Some(101) if has("FAILED") => {
            let panicked = said.lines().skip_while(|line| !line.contains(" panicked at ")).nth(1);
            Said::Fails(panicked.unwrap_or_default().to_owned())
        }
        None => Said::Nothing("it does not end".to_owned()),
        _ => Said::Nothing("no such test".to_owned()),
    }
}

/// Its last line says how it ended.
fn simulation_said(code: Option<i32>, said: &str) -> Said {
    let last = said.lines().last().unwrap_or_default().to_owned();
    match code {
        Some(0) => Said::Passes,
        Some(1) => Said::Fails(last),
        None => Said::Nothing("it does not end".to_owned()),
        Some(_) => Said::Nothing(last),
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
    use super::{Said, simulation_said, test_said};

    #[test]
    fn a_test_passes_or_fails_only_when_it_ran() {
        let said_of = |code, said: &str| test_said(code, said, "a::b");
        assert_eq!(said_of(Some(0), "running 1 test\ntest a::b ... ok\n"), Said::Passes);
        let failed = "test a::b ... FAILED\n\nthread 'a::b' (7) panicked at a.rs:1:2:\nleft is right\n";
        assert_eq!(said_of(Some(101), failed), Said::Fails("left is right".into()));
        for (code, said) in [
            (Some(0), "running 0 tests"),
            (Some(101), "test a::bc ... FAILED"),
            (None, "running 1 test"),
            (Some(1), "test a::b ... ok"),
        ] {
            assert!(matches!(said_of(code, said), Said::Nothing(_)), "{said}");
        }
    }

    #[test]
    fn a_simulation_that_could_not_be_run_has_not_failed() {
        assert_eq!(simulation_said(Some(0), "all is well"), Said::Passes);
        assert_eq!(simulation_said(Some(1), "a\nsteps 7: I1"), Said::Fails("steps 7: I1".into()));
        assert_eq!(simulation_said(Some(2), "error: usage"), Said::Nothing("error: usage".into()));
        assert!(matches!(simulation_said(None, ""), Said::Nothing(_)));
    }
}
