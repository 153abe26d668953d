//! The real program, started in a terminal or with pipes, in surroundings where nothing is left to the machine it runs on.

use crate::cluster::Cluster;
use anyhow::{Context as _, Result};
use portable_pty::CommandBuilder;
use reserve_tests::programs;
use reserve_tests::pty::{FinalScreen, Terminal};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A person at a terminal, and what they have seen.
pub(crate) struct Person<'c> {
    cluster: &'c Cluster,
    environment: Vec<(String, String)>,
    transcript: String,
}

/// What came out of pipes.
#[derive(Debug)]
pub(crate) struct Piped {
    pub(crate) out: String,
    pub(crate) talk: String,
    pub(crate) code: i32,
}

/// The program.
fn program() -> Result<PathBuf> {
    Ok(programs::build()?.join("kubectl-reserve"))
}

impl<'c> Person<'c> {
    pub(crate) fn at(cluster: &'c Cluster) -> Self {
        Self { cluster, environment: cluster.environment(), transcript: String::new() }
    }

    /// With one more variable in the environment.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Types a command on the terminal, does what `then` says while it runs, and waits for its end.
    pub(crate) fn types_and(
        &mut self,
        line: &str,
        then: impl FnOnce(&mut Terminal) -> Result<()>,
    ) -> Result<FinalScreen> {
        let mut command = CommandBuilder::new(program()?);
        command.args(words(line));
        command.env_clear();
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        command.cwd(self.cluster.home());
        let mut terminal = Terminal::start(command).context("start a terminal")?;
        let before = || format!("{}$ kubectl reserve {line}", self.transcript);
        then(&mut terminal).with_context(before)?;
        let left = terminal.ends().with_context(before)?;
        self.transcript += &format!("$ kubectl reserve {line}\n{}\n", left.text.trim_end());
        self.transcript += &ended(&left.end);
        Ok(left)
    }

    /// Types a command that asks nothing.
    pub(crate) fn types(&mut self, line: &str) -> Result<FinalScreen> {
        self.types_and(line, |_| Ok(()))
    }

    /// Runs a command with pipes.
    pub(crate) fn pipes(&mut self, line: &str) -> Result<Piped> {
        let mut command = Command::new(program()?);
        command.args(words(line)).env_clear().envs(self.environment.iter().cloned());
        let output = command.current_dir(self.cluster.home()).stdin(Stdio::null()).output()?;
        let piped = Piped {
            out: String::from_utf8(output.stdout)?,
            talk: String::from_utf8(output.stderr)?,
            code: output.status.code().context("ended by a signal")?,
        };
        self.transcript += &format!("$ kubectl reserve {line} | cat\n{}", piped.out);
        if !piped.talk.is_empty() {
            self.transcript += &format!("(stderr)\n{}", piped.talk);
        }
        self.transcript += &ended(&format!("exit {}", piped.code));
        Ok(piped)
    }

    /// All that was typed and seen since the last time.
    pub(crate) fn transcript(&mut self) -> String {
        std::mem::take(&mut self.transcript)
    }
}

fn ended(how: &str) -> String {
    if how == "exit 0" { "\n".into() } else { format!("({how})\n\n") }
}

/// The words of a line, as a shell takes them: what stands in single quotes is part of one word.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut is_quoted, mut is_between) = (false, true);
    for character in line.chars() {
        match character {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => {
                is_between = true;
                continue;
            }
            _ => {}
        }
        if is_between {
            words.push(String::new());
            is_between = false;
        }
        if let Some(word) = words.last_mut().filter(|_| character != '\'') {
            word.push(character);
        }
    }
    words
}
