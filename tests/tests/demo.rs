//! `kubectl reserve demo`, run as a user runs it: what it prints is what the README shows, without a cluster, a home or a
//! terminal. `make recording` writes the README's recording anew.
#![forbid(unsafe_code)]

use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::workspace_dir;
use reserve_tests::programs;
use std::process::{Command, Output};

const BEGIN: &str =
    "<!-- What `make demo` prints; `make recording` writes it, and a test compares. -->\n```\n";
const END: &str = "```\n<!-- The end of it. -->\n";

/// When this is set, the README is written instead of compared.
const RECORD: &str = "RESERVE_RECORD";

/// Runs it with nothing but arguments: no kubeconfig, no home, no PATH.
fn demo(arguments: &[&str]) -> Result<Output> {
    let mut command = Command::new(programs::build()?.join("kubectl-reserve"));
    command.env_clear().arg("demo").args(arguments).output().context("run the demo")
}

fn told(output: Output) -> Result<String> {
    let (out, talk) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    ensure!(output.status.success() && talk.is_empty(), "{}: {out}{talk}", output.status);
    Ok(out)
}

#[test]
fn the_recording_in_the_readme_is_what_it_prints() -> Result<()> {
    let told = told(demo(&["--fast"])?)?;
    let path = workspace_dir().join("README.md");
    let readme = std::fs::read_to_string(&path)?;
    let (before, rest) = readme.split_once(BEGIN).context("the README has no recording")?;
    let (recorded, after) = rest.split_once(END).context("the README's recording has no end")?;
    if std::env::var_os(RECORD).is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{told}{END}{after}"))?;
        return Ok(());
    }
    let difference = recorded.lines().zip(told.lines()).find(|(recorded, told)| recorded != told);
    ensure!(recorded == told, "run `make recording`; the first difference: {difference:#?}\n{told}");
    Ok(())
}

/// Whoever reads along in a pipe is not made to wait, and the cluster's time is not the machine's.
#[test]
fn it_prints_the_same_each_time_and_nothing_but_text() -> Result<()> {
    let told = told(demo(&[])?)?;
    ensure!(told == self::told(demo(&["--fast"])?)?, "{told}");
    ensure!(!told.contains('\u{1b}'), "{told:?}");
    // It says what happens, and what became of each pod.
    for word in ["batch-0 was faster", "(same node)", "StatefulSet/db   node-3", "VERDICT  No node fits"] {
        ensure!(told.contains(word), "{word}: {told}");
    }
    let wide: Vec<&str> = told.lines().filter(|line| line.chars().count() > 82).collect();
    ensure!(wide.is_empty(), "{wide:#?}");
    Ok(())
}

#[test]
fn colours_change_no_word() -> Result<()> {
    let plain = told(demo(&["--fast"])?)?;
    let coloured = told(demo(&["--fast", "--color=always"])?)?;
    let mut without = String::new();
    for (index, part) in coloured.split("\u{1b}[").enumerate() {
        without += if index == 0 { part } else { part.split_once('m').map_or("", |(_, text)| text) };
    }
    ensure!(coloured.contains('\u{1b}') && without == plain, "{coloured:?}");
    Ok(())
}

/// Whoever has seen enough may go.
#[test]
fn a_closed_pipe_is_no_error() -> Result<()> {
    let program = programs::build()?.join("kubectl-reserve");
    let line = format!("'{}' demo --fast | head -n 1", program.display());
    let output = Command::new("sh").args(["-c", &line]).output()?;
    let (out, talk) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    ensure!(out.starts_with("# kubectl reserve keeps a pod's place") && talk.is_empty(), "{out}{talk}");
    Ok(())
}
