//! Escape sequences are for those who want them; what goes on is shown until Ctrl-C.

use crate::command::Person;
use crate::golden::{Times, golden};
use crate::still::shared_cluster;
use anyhow::{Result, ensure};
use reserve_tests::pty::FinalScreen;
use serde_json::json;

const CTRL_C: &str = "\u{3}";

fn has_escape(left: &FinalScreen) -> bool {
    left.bytes.contains(&0x1b)
}

/// Lines that show warnings, errors, a spinner, a verdict, help.
const LINES: [&str; 9] =
    ["list -A", "list nope", "explain", "nodes", "status", "doctor", "--help", "fit", "lst"];

#[test]
fn whoever_wants_no_escape_sequences_gets_none() -> Result<()> {
    let shared_cluster = shared_cluster()?;
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let mut person = Person::at(&shared_cluster.cluster).with(name, value);
        for line in LINES {
            ensure!(!has_escape(&person.types(line)?), "{name}={value} kubectl reserve {line}");
        }
    }
    let mut person = Person::at(&shared_cluster.cluster);
    ensure!(has_escape(&person.types("list -A")?), "a terminal has colours");
    for line in LINES {
        let piped = person.pipes(line)?;
        ensure!(!format!("{}{}", piped.out, piped.talk).contains('\u{1b}'), "{line}");
    }
    for line in ["list -A --color=always", "doctor --color=always", "fit --color=always"] {
        let piped = person.pipes(line)?;
        ensure!(format!("{}{}", piped.out, piped.talk).contains('\u{1b}'), "{line}");
    }
    Ok(())
}

#[test]
fn what_changes_is_shown_until_ctrl_c() -> Result<()> {
    let shared_cluster = shared_cluster()?;
    let (cluster, node) = (&shared_cluster.cluster, "/api/v1/nodes/node-3");
    let mut person = Person::at(cluster);
    person.types_and("explain -w", |terminal| {
        terminal.sees("cpu")?;
        cluster.merge(node, &json!({ "spec": { "unschedulable": null } }))?;
        terminal.sees("fits now on node-3")?;
        terminal.types(CTRL_C)
    })?;
    person.types_and("list -w --output-watch-events", |terminal| {
        terminal.sees("Expired")?;
        let annotations = json!({ "reserve.cpu/oops": null });
        cluster.merge(node, &json!({ "metadata": { "annotations": annotations } }))?;
        terminal.sees("DELETED")?;
        terminal.types(CTRL_C)
    })?;
    golden("terminal-watch", &person.transcript(), Times::Shown);
    Ok(())
}

#[test]
fn help_is_laid_out_for_a_terminal() -> Result<()> {
    let shared_cluster = shared_cluster()?;
    for verb in ["", "list", "explain", "pod"] {
        let mut person = Person::at(&shared_cluster.cluster);
        person.types(&format!("{verb} --help"))?;
        let name = if verb.is_empty() { "help" } else { verb };
        golden(&format!("terminal-help-{name}"), &person.transcript(), Times::Shown);
    }
    Ok(())
}
