//! `bugs [--quick | --find] [NAME…]` puts well-known bugs back, one at a time, and checks that the tests and seeds named beside
//! each bug fail with it.
//!
//! Each file in `tests/bugs` begins with what the bug does and with the commands that have to fail while the bug is in the code;
//! the rest is a patch. All of it happens in a copy of the sources. `make bugs` runs it.
#![forbid(unsafe_code)]

use anyhow::{Context as _, Result, bail, ensure};
use reserve_tests::bugs::{self, Bug, Check, CheckKind, CheckResult, SourceCopy};
use reserve_tests::control_plane::workspace_dir;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::ExitCode;

const USAGE: &str = "\
usage: bugs [--quick | --find] [NAME, or how it begins]…

Each test and seed that is named beside a bug has to pass without it and to fail with it.
  --quick  unit tests only, no seeds
  --find   look for the first seed that fails with the bug, for each that is named, and write it down in its place";

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs all checks. false: a check that is named for a bug does not fail with it, or fails without it.
fn run() -> Result<bool> {
    let (options, names): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
    let (mut is_quick, mut finds) = (false, false);
    for option in &options {
        match option.as_str() {
            "--quick" => is_quick = true,
            "--find" => finds = true,
            other => bail!("unknown option {other}\n{USAGE}"),
        }
    }
    let mut bugs = bugs::all()?;
    bugs.retain(|bug| names.is_empty() || names.iter().any(|name| bug.name.starts_with(name)));
    ensure!(!bugs.is_empty(), "no bug of that name\n{USAGE}");
    if is_quick {
        bugs.iter_mut().for_each(|bug| bug.caught_by.retain(|check| !check.is_seed()));
    }
    let mut copy = SourceCopy::make()?;
    if finds {
        return find(&mut copy, bugs);
    }
    let is_well = all_pass(&mut copy, &bugs)?;
    Ok(all_seen(&mut copy, &bugs)? && is_well)
}

/// Runs all checks without any bug, so that one build serves all.
fn all_pass(copy: &mut SourceCopy, bugs: &[Bug]) -> Result<bool> {
    let mut told = BTreeSet::new();
    let mut is_well = true;
    for check in bugs.iter().flat_map(|bug| &bug.caught_by).filter(|check| told.insert(&check.command)) {
        let why = match copy.run(check)? {
            CheckResult::Passes => continue,
            CheckResult::Fails(why) | CheckResult::Inconclusive(why) => why,
        };
        is_well = false;
        row("no bug", check, "FAILS", &why)?;
    }
    Ok(is_well)
}

fn all_seen(copy: &mut SourceCopy, bugs: &[Bug]) -> Result<bool> {
    let mut missed = 0;
    for bug in bugs {
        copy.patch(bug, &[])?;
        for check in &bug.caught_by {
            let (seen, why) = match copy.run(check) {
                Ok(CheckResult::Fails(why)) => ("seen", why),
                Ok(CheckResult::Passes) => ("MISSED", "it passes".to_owned()),
                Ok(CheckResult::Inconclusive(why)) => ("MISSED", why),
                Err(error) => ("MISSED", format!("{error:#}")),
            };
            missed += usize::from(seen == "MISSED");
            row(&bug.name, check, seen, &why)?;
        }
        copy.patch(bug, &["--reverse"])?;
    }
    writeln!(std::io::stdout(), "{} bugs, {missed} not seen by what is named for them", bugs.len())?;
    Ok(missed == 0)
}

fn row(bug: &str, check: &Check, seen: &str, why: &str) -> Result<()> {
    // The first words identify the failure; running the command shows the rest.
    let why: String = why.chars().take(100).collect();
    writeln!(std::io::stdout(), "{bug:<28} {seen:<7} {}\n{:37}{why}", check.name(), "")?;
    Ok(())
}

/// Searches new seeds after the simulator has changed, which gives each seed another history.
fn find(copy: &mut SourceCopy, mut bugs: Vec<Bug>) -> Result<bool> {
    let mut is_well = true;
    for bug in &mut bugs {
        copy.patch(bug, &[])?;
        for check in bug.caught_by.clone() {
            let CheckKind::Simulation { tier, option, .. } = &check.kind else { continue };
            if option != "--seed" {
                continue;
            }
            let said = copy.search(tier)?;
            let Some((seed, why)) = first_seed(tier, &said) else {
                is_well = false;
                row(&bug.name, &check, "MISSED", "no seed fails")?;
                continue;
            };
            let found = Check::of_seed(tier, seed)?;
            bug.replace(&check, &found)?;
            row(&bug.name, &found, "found", why)?;
        }
        copy.patch(bug, &["--reverse"])?;
    }
    let path = workspace_dir().join("docs").join("simulation.md");
    let docs = std::fs::read_to_string(&path).context("read docs/simulation.md")?;
    std::fs::write(&path, bugs::documented(&docs, &bugs::all()?)?).context("write docs/simulation.md")?;
    Ok(is_well)
}

/// The first failed seed in the simulator's output, and the rule that it broke.
fn first_seed<'s>(tier: &str, said: &'s str) -> Option<(&'s str, &'s str)> {
    let failed = said.lines().filter_map(|line| line.strip_prefix(tier)?.strip_prefix(' ')?.split_once(": "));
    failed.into_iter().find(|(name, _)| name.parse::<u64>().is_ok())
}
