//! Typing commands, and what came of them.

use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{User, Write};
use reserve_tests::shared_cluster::TestNamespace;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// What a command printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Typed {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) talk: String,
}

impl Typed {
    /// Fails unless it ended with `code`.
    pub(crate) fn ended(self, code: i32) -> Result<Self> {
        ensure!(self.code == Some(code), "expected {code}: {self:#?}");
        Ok(self)
    }

    /// Fails unless its talk has each of these.
    pub(crate) fn says(self, words: &[&str]) -> Result<Self> {
        for word in words {
            ensure!(self.talk.contains(word), "nothing of {word:?} in:\n{}", self.talk);
        }
        Ok(self)
    }
}

fn command(ns: &TestNamespace, user: User, arguments: &[&str]) -> Result<Command> {
    let mut command = ns.cluster.kubectl(user)?;
    command.arg("reserve").args(arguments).args(["-n", ns.name]);
    command.env("XDG_STATE_HOME", ns.cluster.dir().join("state")).stdin(Stdio::null());
    Ok(command)
}

/// Types `kubectl reserve …` and waits for its end.
pub(crate) async fn typed(ns: &TestNamespace, arguments: &[&str]) -> Result<Typed> {
    typed_as(ns, User::Admin, arguments).await
}

/// The same as somebody.
pub(crate) async fn typed_as(ns: &TestNamespace, user: User, arguments: &[&str]) -> Result<Typed> {
    let mut command = command(ns, user, arguments)?;
    let output = tokio::task::spawn_blocking(move || command.output()).await?.context("run kubectl")?;
    Ok(Typed {
        code: output.status.code(),
        out: String::from_utf8(output.stdout)?,
        talk: String::from_utf8(output.stderr)?,
    })
}

/// A command that is still running.
pub(crate) struct Running {
    child: Child,
    lines: std::sync::mpsc::Receiver<String>,
    pub(crate) heard: String,
}

/// Types `kubectl reserve …` and does not wait.
pub(crate) fn begin(ns: &TestNamespace, arguments: &[&str]) -> Result<Running> {
    let mut command = command(ns, User::Admin, arguments)?;
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context("start kubectl")?;
    let talk = child.stderr.take().context("no stderr")?;
    let (sender, lines) = std::sync::mpsc::channel();
    #[expect(
        clippy::disallowed_methods,
        reason = "reads what a program says while the test does other things"
    )]
    std::thread::spawn(move || {
        for line in BufReader::new(talk).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    Ok(Running { child, lines, heard: String::new() })
}

impl Running {
    /// Waits until it says something with `word` in it.
    pub(crate) fn hear(&mut self, word: &str) -> Result<()> {
        let limit = std::time::Duration::from_secs(60);
        while !self.heard.contains(word) {
            let line = self
                .lines
                .recv_timeout(limit)
                .with_context(|| format!("it never says {word:?}:\n{}", self.heard))?;
            self.heard += &line;
            self.heard.push('\n');
        }
        Ok(())
    }

    /// Sends it a signal, such as `INT`.
    pub(crate) fn signal(&self, name: &str) -> Result<()> {
        let status =
            Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status()?;
        ensure!(status.success(), "kill -{name} failed");
        Ok(())
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Result<Typed> {
        let code = self.child.wait()?.code();
        while let Ok(line) = self.lines.recv_timeout(std::time::Duration::from_secs(5)) {
            self.heard += &line;
            self.heard.push('\n');
        }
        Ok(Typed { code, out: String::new(), talk: self.heard })
    }
}

/// The evictions that were asked for on a namespace, dry runs included.
pub(crate) async fn evictions(ns: &TestNamespace) -> Result<Vec<Write>> {
    let audit = ns.cluster.audit().await?.to("pods/eviction");
    let name = ns.name.to_owned();
    Ok(audit.keep(|write| write.namespace == name).writes().to_vec())
}

/// What the command wrote on a namespace and its nodes, dry runs aside.
pub(crate) async fn writes(ns: &TestNamespace) -> Result<Vec<Write>> {
    let name = ns.name.to_owned();
    let audit = ns.cluster.audit().await?.stored().keep(|write| {
        let is_here = write.namespace == name || write.name.starts_with(&format!("{name}-"));
        let is_question = write.resource.starts_with("selfsubject");
        write.user_agent.starts_with("kubectl-reserve/") && is_here && !is_question
    });
    Ok(audit.writes().to_vec())
}
