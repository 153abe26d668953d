//! One program of the control plane, with a supervisor that ends it even if the test process is killed.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::components::Component;
use super::settings::tell;

/// A shell script that runs a program, and ends it when the script's standard input closes.
const SUPERVISOR: &str = include_str!("../../control-plane/supervisor.sh");
/// The supervisor kills after 5 s; if that takes longer, something is wrong with the supervisor.
const END_MAX: Duration = Duration::from_secs(8);
const END_POLL: Duration = Duration::from_millis(20);
/// How many lines of a log an error repeats.
const LINES_SHOWN: usize = 15;

/// A running program.
#[derive(Debug)]
pub(super) struct Process {
    name: &'static str,
    supervisor: Child,
    log: PathBuf,
    pid_file: PathBuf,
    program: PathBuf,
    arguments: Vec<String>,
}

impl Process {
    /// Starts `component` with its log and pid in `dir`.
    pub(super) fn start(component: &Component, program: &Path, dir: &Path) -> Result<Self> {
        let log = dir.join(format!("{}.log", component.name));
        let pid_file = dir.join(format!("{}.pid", component.name));
        let out = File::create(&log).with_context(|| format!("create {}", log.display()))?;
        let supervisor = start_supervised(&pid_file, program, &component.arguments, out)
            .with_context(|| format!("start {}", component.name))?;
        let (program, arguments) = (program.to_owned(), component.arguments.clone());
        Ok(Self { name: component.name, supervisor, log, pid_file, program, arguments })
    }

    /// Kills the program with SIGKILL, and waits until it has ended.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.signal("KILL")?;
        anyhow::ensure!(self.wait_for_end(), "{} would not die", self.name);
        Ok(())
    }

    /// Sends the program a signal.
    pub(super) fn signal(&self, name: &str) -> Result<()> {
        let pid = self.pid().with_context(|| format!("{} has no process id", self.name))?;
        let sent = Command::new("kill").args(["-s", name, &pid.to_string()]).status().context("run kill")?;
        anyhow::ensure!(sent.success(), "{} could not be sent {name}", self.name);
        Ok(())
    }

    /// Starts the program again after its end, with the same log.
    fn start_again(&mut self) -> Result<()> {
        let out = File::options().append(true).open(&self.log).context("open a log")?;
        // Remove the old process id, so that `pid` does not return it before the supervisor has written the new one.
        fs::remove_file(&self.pid_file).context("remove an old process id")?;
        self.supervisor = start_supervised(&self.pid_file, &self.program, &self.arguments, out)
            .with_context(|| format!("start {} again", self.name))?;
        Ok(())
    }

    /// The process id of the program itself, once the supervisor has written it to the file.
    pub(super) fn pid(&self) -> Option<u32> {
        fs::read_to_string(&self.pid_file).ok()?.trim().parse().ok()
    }

    /// An error with the end of the log, when the program has ended by itself.
    pub(super) fn check_alive(&mut self) -> Result<()> {
        if let Some(status) = self.supervisor.try_wait().context("ask after a process")? {
            bail!("{} ended by itself ({status}); {}:\n{}", self.name, self.log.display(), self.log_tail());
        }
        Ok(())
    }

    /// Asks the program to end, without waiting for it.
    fn ask_to_end(&mut self) {
        drop(self.supervisor.stdin.take());
    }

    /// Ends the program and waits for its end. false: it still runs.
    pub(super) fn wait_for_end(&mut self) -> bool {
        self.ask_to_end();
        let mut waited = Duration::ZERO;
        while waited < END_MAX {
            if !matches!(self.supervisor.try_wait(), Ok(None)) {
                return true;
            }
            std::thread::sleep(END_POLL);
            waited += END_POLL;
        }
        false
    }

    /// The output so far.
    pub(super) fn log(&self) -> Result<String> {
        fs::read_to_string(&self.log).with_context(|| format!("read {}", self.log.display()))
    }

    fn log_tail(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n")
    }
}

/// Starts the supervisor, which starts the program.
fn start_supervised(pid_file: &Path, program: &Path, arguments: &[String], out: File) -> Result<Child> {
    let dir = pid_file.parent().context("no folder for the program")?;
    let mut supervisor = Command::new("sh");
    supervisor
        .args(["-c", SUPERVISOR, "supervisor"])
        .arg(pid_file)
        .arg(program)
        .args(arguments)
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stderr(out.try_clone().context("share the log file")?)
        .stdout(out)
        // Ctrl-C reaches the whole foreground process group; the supervisor must outlive us to end the program.
        .process_group(0);
    supervisor.spawn().context("start a supervisor")
}

/// All programs of one cluster, in the order of their start: etcd is the first.
#[derive(Debug, Default)]
pub(super) struct Processes(Vec<Process>);

impl Processes {
    pub(super) fn push(&mut self, process: Process) {
        self.0.push(process);
    }

    /// An error about the first program that has ended by itself.
    pub(super) fn check_alive(&mut self) -> Result<()> {
        self.0.iter_mut().try_for_each(Process::check_alive)
    }

    /// Kills a program, calls `meanwhile`, and starts the program again.
    pub(super) fn restart(&mut self, name: &str, meanwhile: impl FnOnce() -> Result<()>) -> Result<()> {
        let process = self.0.iter_mut().find(|process| process.name == name);
        let process = process.with_context(|| format!("{name} does not run"))?;
        process.kill()?;
        meanwhile()?;
        process.start_again()
    }

    /// Names and process ids.
    pub(super) fn ids(&self) -> Vec<(&'static str, u32)> {
        self.0.iter().filter_map(|process| Some((process.name, process.pid()?))).collect()
    }

    /// Ends all programs and waits for their end.
    pub(super) fn end(&mut self) {
        // etcd ends last: without it the API server hangs instead of ending.
        self.0.iter_mut().skip(1).for_each(Process::ask_to_end);
        while let Some(mut process) = self.0.pop() {
            if !process.wait_for_end() {
                tell(&format!("{} would not end; its log is {}", process.name, process.log.display()));
            }
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.end();
    }
}
