//! The patches in `tests/bugs` fit the sources as they are, and what they name is there. `make bugs` runs it all.
#![forbid(unsafe_code)]

use anyhow::{Context as _, Result, ensure};
use reserve_tests::bugs::{Bug, Check, CheckKind, all, documented};
use reserve_tests::control_plane::workspace_dir;
use reserve_tests::simulation::TIERS;
use std::path::Path;
use std::process::Command;

/// The bugs of time, order and loss, which a simulation sees, too. The others are about one moment; all of them but 05 and 13
/// are seen by one all the same (docs/simulation.md).
const SIMULATED: [&str; 10] = ["01", "02", "03", "04", "06", "08", "09", "10", "11", "14"];

fn number(bug: &Bug) -> &str {
    bug.name.split('-').next().unwrap_or_default()
}

#[test]
fn there_are_fifteen() -> Result<()> {
    let expected: Vec<String> = (1..=15).map(|number| format!("{number:02}")).collect();
    assert_eq!(all()?.iter().map(number).collect::<Vec<_>>(), expected);
    Ok(())
}

#[test]
fn each_patch_applies() -> Result<()> {
    let root = workspace_dir();
    for bug in all()? {
        let mut git = Command::new("git");
        git.args(["apply", "--check"]).arg(&bug.path).current_dir(&root);
        // Whatever repository this one may be unpacked in.
        git.env("GIT_CEILING_DIRECTORIES", root.parent().unwrap_or(&root));
        let output = git.output().context("git apply")?;
        let why = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: make the bug anew: {why}", bug.name);
    }
    Ok(())
}

#[test]
fn each_check_that_is_named_is_there() -> Result<()> {
    for bug in all()? {
        for check in &bug.caught_by {
            let is_there = match &check.kind {
                CheckKind::Test { package, name } => {
                    let source = workspace_dir().join(package.trim_start_matches("reserve-")).join("src");
                    let function = name.rsplit("::").next().unwrap_or_default();
                    is_in(&source, &format!("fn {function}("))?
                }
                CheckKind::Simulation { tier, .. } => TIERS.iter().any(|one| one.name == tier),
            };
            ensure!(is_there, "{}: there is no {}", bug.name, check.name());
        }
    }
    Ok(())
}

#[test]
fn each_is_seen_by_a_test_and_those_of_time_order_and_loss_by_a_seed() -> Result<()> {
    for bug in all()? {
        ensure!(!bug.caught_by.iter().all(Check::is_seed), "{}: no test", bug.name);
        let has_seed = bug.caught_by.iter().any(Check::is_seed);
        ensure!(has_seed || !SIMULATED.contains(&number(&bug)), "{}: no seed", bug.name);
    }
    Ok(())
}

/// After a change of the patches by hand: `RESERVE_RECORD=1 cargo test -p reserve-tests --test known_bugs`.
#[test]
fn the_table_in_the_documentation_is_what_the_patches_say() -> Result<()> {
    let path = workspace_dir().join("docs").join("simulation.md");
    let docs = std::fs::read_to_string(&path).context("read docs/simulation.md")?;
    let expected = documented(&docs, &all()?)?;
    if std::env::var_os("RESERVE_RECORD").is_some() {
        return std::fs::write(&path, expected).context("write docs/simulation.md");
    }
    let difference = docs.lines().zip(expected.lines()).find(|(told, expected)| told != expected);
    ensure!(docs == expected, "RESERVE_RECORD=1 writes it; the first difference: {difference:#?}");
    Ok(())
}

/// Whether some file in the folder has this text.
fn is_in(folder: &Path, text: &str) -> Result<bool> {
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let is_there = match path.is_dir() {
            true => is_in(&path, text)?,
            false => std::fs::read_to_string(&path).is_ok_and(|source| source.contains(text)),
        };
        if is_there {
            return Ok(true);
        }
    }
    Ok(false)
}
