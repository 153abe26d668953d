//! What somebody at a terminal is asked before anything is installed.

use crate::{inventory, stored_since};
use anyhow::{Result, ensure};
use jiff::Timestamp;
use portable_pty::CommandBuilder;
use reserve_tests::control_plane::{Cluster, User};
use reserve_tests::pty::{FinalScreen, Terminal};

/// Whoever says no, or goes away, has changed nothing.
pub(super) async fn no_is_no(cluster: &Cluster, before: &[String]) -> Result<()> {
    let start = Timestamp::now();
    let mut transcript = String::new();
    for keys in ["n\r", "\r", "\u{3}"] {
        transcript += &on_terminal(cluster, &["install"], "Install the daemon?", keys)?;
    }
    golden("terminal-install-asked", &transcript);
    ensure!(stored_since(cluster, start).await?.is_empty(), "{transcript}");
    ensure!(inventory(cluster).await? == before, "{transcript}");
    Ok(())
}

/// Another image is an upgrade, and somebody is told from what to what.
pub(super) fn yes_is_yes(cluster: &Cluster) -> Result<()> {
    let arguments = ["install", "--image", "example.com/reserve-daemon:8"];
    let transcript = on_terminal(cluster, &arguments, "Upgrade the daemon?", "y\r")?;
    golden("terminal-upgrade-asked", &transcript);
    Ok(())
}

fn on_terminal(cluster: &Cluster, arguments: &[&str], question: &str, keys: &str) -> Result<String> {
    let kubectl = cluster.kubectl(User::Admin)?;
    let mut command = CommandBuilder::new(kubectl.get_program());
    command.arg("reserve");
    command.args(arguments);
    for (name, value) in kubectl.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        command.env(name, value);
    }
    command.cwd(cluster.dir());
    command.env("TERM", "xterm");
    command.env("NO_COLOR", "1");
    let FinalScreen { text, end, .. } = tokio::task::block_in_place(|| {
        let mut terminal = Terminal::start(command)?;
        terminal.answers(question, keys)?;
        terminal.ends()
    })?;
    Ok(format!("$ kubectl reserve {}\n{}\n({end})\n", arguments.join(" "), text.trim_end()))
}

#[track_caller]
fn golden(name: &str, transcript: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"configmap/reserve-daemon-\w{10}\b", "configmap/reserve-daemon-HASH");
    // How often it looks depends on how fast the cluster is.
    settings.add_filter(r"(Waiting for deployment [^\n]*\n(  [^\n]*\n)?)+", "Waiting for deployment …\n");
    settings.add_filter(&env!("CARGO_PKG_VERSION").replace('.', r"\."), "0.0.0");
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, transcript));
}
