//! One of our programs, running beside the control plane ([`Cluster::run_program`]).

use super::cluster::Cluster;
use super::components::Component;
use super::process::Process;
use anyhow::{Context as _, Result};
use std::path::Path;

/// A running program. Dropping this value ends it, and so does the end of the test process.
#[derive(Debug)]
pub struct Program(Process);

impl Program {
    /// The output so far.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn log(&self) -> Result<String> {
        self.0.log()
    }

    /// The process id.
    ///
    /// # Errors
    /// When the program has not been started yet.
    pub fn pid(&self) -> Result<u32> {
        self.0.pid().context("a program that has no process id yet")
    }

    /// Checks that the program still runs.
    ///
    /// # Errors
    /// When it has ended by itself, with the end of its log.
    pub fn check_alive(&mut self) -> Result<()> {
        self.0.check_alive()
    }

    /// Sends it a signal, such as `STOP`.
    ///
    /// # Errors
    /// When it cannot be sent.
    pub fn signal(&self, name: &str) -> Result<()> {
        self.0.signal(name)
    }

    /// Whether the program has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.0.check_alive().is_err()
    }

    /// Kills the program with SIGKILL.
    ///
    /// # Errors
    /// When the process does not end.
    pub fn kill(&mut self) -> Result<()> {
        self.0.kill()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.0.wait_for_end();
    }
}

impl Cluster {
    /// The path of a program of the control plane.
    ///
    /// # Errors
    /// When no program has this name.
    pub fn program(&self, name: &str) -> Result<&Path> {
        self.binaries.path(name)
    }

    /// Runs `program`, with its log beside those of the control plane.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run_program(&self, name: &'static str, program: &Path, arguments: &[&str]) -> Result<Program> {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Ok(Program(Process::start(&Component { name, arguments }, program, self.dir())?))
    }
}
