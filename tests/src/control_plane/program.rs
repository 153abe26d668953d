//! A program of ours that runs beside the control plane for as long as a test wants it.

use super::cluster::Cluster;
use super::components::Component;
use super::process::Process;
use anyhow::{Context as _, Result};
use std::path::Path;

/// A running program. Ends with this value, and whatever happens to the test.
#[derive(Debug)]
pub struct Program(Process);

impl Program {
    /// Everything it has printed so far.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn log(&self) -> Result<String> {
        self.0.log()
    }

    /// Its process id.
    ///
    /// # Errors
    /// When it has not been started yet.
    pub fn pid(&self) -> Result<u32> {
        self.0.pid().context("a program that has no process id yet")
    }

    /// An error with the end of its log, when it has ended by itself.
    ///
    /// # Errors
    /// That one.
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

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.0.check_alive().is_err()
    }

    /// Kills it as a power cut would.
    ///
    /// # Errors
    /// When it does not die.
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
    /// Where a program of the control plane lies.
    ///
    /// # Errors
    /// When there is none of that name.
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
