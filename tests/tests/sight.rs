//! The patches in `tests/bugs` fit the sources as they are, and what they name is there. `make bugs` runs it all.
#![forbid(unsafe_code)]

use reserve_tests::bugs::{self, Bug, Kind};
use reserve_tests::control_plane::workspace_dir;
use reserve_tests::simulation::TIERS;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The bugs of time, order and loss: each of them is seen by a simulation, too.
const SIMULATED: [&str; 10] = ["01", "02", "03", "04", "06", "08", "09", "10", "11", "14"];

fn bugs() -> Vec<Bug> {
    bugs::all().unwrap()
}

fn number(bug: &Bug) -> &str {
    bug.name.split('-').next().unwrap()
}

#[test]
fn there_are_fifteen() {
    let expected: Vec<String> = (1..=15).map(|number| format!("{number:02}")).collect();
    assert_eq!(bugs().iter().map(number).collect::<Vec<_>>(), expected);
}

#[test]
fn each_patch_applies() {
    let root = workspace_dir();
    for bug in bugs() {
        let mut git = Command::new("git");
        git.args(["apply", "--check"]).arg(&bug.path).current_dir(&root);
        // Whatever repository this one may be unpacked in.
        git.env("GIT_CEILING_DIRECTORIES", root.parent().unwrap_or(&root));
        let output = git.output().unwrap();
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: make the bug anew: {why}", bug.name);
    }
}

#[test]
fn each_check_that_is_named_is_there() {
    for bug in bugs() {
        for check in &bug.caught_by {
            match &check.kind {
                Kind::Test { package, name } => {
                    let source = workspace_dir().join(package.trim_start_matches("reserve-")).join("src");
                    let function = format!("fn {}(", name.rsplit("::").next().unwrap());
                    assert!(is_in(&source, &function), "{}: no test {name} in {package}", bug.name);
                }
                Kind::Simulation { tier, .. } => {
                    assert!(TIERS.iter().any(|one| one.name == tier), "{}: no tier {tier}", bug.name);
                }
            }
        }
    }
}

#[test]
fn each_is_seen_by_a_test_and_those_of_time_order_and_loss_by_a_seed() {
    for bug in bugs() {
        assert!(bug.caught_by.iter().any(|check| !check.is_seed()), "{}: no test", bug.name);
        let has_seed = bug.caught_by.iter().any(bugs::Check::is_seed);
        assert!(has_seed || !SIMULATED.contains(&number(&bug)), "{}: no seed", bug.name);
    }
}

/// After a change of the patches by hand: `RESERVE_RECORD=1 cargo test -p reserve-tests --test sight`.
#[test]
fn the_table_in_the_documentation_is_what_the_patches_say() {
    let path = workspace_dir().join("docs").join("simulation.md");
    let docs = std::fs::read_to_string(&path).unwrap();
    let expected = bugs::documented(&docs, &bugs()).unwrap();
    if std::env::var_os("RESERVE_RECORD").is_some() {
        std::fs::write(&path, expected).unwrap();
        return;
    }
    assert_eq!(docs, expected, "RESERVE_RECORD=1 writes it");
}

fn is_in(folder: &Path, text: &str) -> bool {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.iter().any(|path| match path.is_dir() {
        true => is_in(path, text),
        false => std::fs::read_to_string(path).is_ok_and(|source| source.contains(text)),
    })
}
