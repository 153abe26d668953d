//! Tells the program which commit it is built from, for `kubectl reserve version`: from the environment (`RESERVE_COMMIT` and
//! `RESERVE_COMMIT_DATE`), else from git. Builds for development have neither, so that a commit does not build them anew.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=RESERVE_COMMIT");
    println!("cargo::rerun-if-env-changed=RESERVE_COMMIT_DATE");
    let (mut commit, mut date) = (variable("RESERVE_COMMIT"), variable("RESERVE_COMMIT_DATE"));
    if variable("PROFILE").as_deref() == Some("release") && (commit.is_none() || date.is_none()) {
        if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
            println!("cargo::rerun-if-changed={log}");
        }
        (commit, date) = (git(&["rev-parse", "--short=12", "HEAD"]), git(&["log", "-1", "--format=%cs"]));
    }
    println!("cargo::rustc-env=RESERVE_COMMIT={}", commit.unwrap_or_default());
    println!("cargo::rustc-env=RESERVE_COMMIT_DATE={}", date.unwrap_or_default());
}

#[expect(clippy::disallowed_methods, reason = "a build script has no other input")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
