//! The script is short enough, narrow enough, and fails when a pod loses its place.

use super::runner::run;
use super::script::{Condition, DemoStep, SCRIPT};
use crate::cli::TerminalFlags;
use crate::error::Exit;
use crate::ui::{Streams, TerminalEnvironment, Ui};
use std::time::Duration;

fn ui() -> Ui {
    Ui::new(
        &TerminalFlags { quiet: true, ..TerminalFlags::default() },
        &TerminalEnvironment::default(),
        Streams::default(),
    )
}

#[test]
fn it_takes_less_than_fifteen_seconds() {
    let pauses: Duration = SCRIPT.iter().map(|step| step.before() + step.after()).sum();
    // What is left is for the machine, however slow.
    assert!((Duration::from_secs(10)..=Duration::from_secs(13)).contains(&pauses), "{pauses:?}");
}

#[test]
fn every_line_fits_a_narrow_terminal() {
    for step in SCRIPT {
        let (DemoStep::Heading(text)
        | DemoStep::Comment(text)
        | DemoStep::Command(text)
        | DemoStep::FailingCommand(text, _)) = step
        else {
            continue;
        };
        assert!(text.len() <= 78, "{} letters: {text}", text.len());
    }
}

#[tokio::test]
async fn a_lost_place_is_an_error() {
    let lost = [
        DemoStep::Command("kubectl delete pod mail-0"),
        DemoStep::WaitUntil(Condition::PodRuns("mail-0", "node-1")),
    ];
    let failure = run(&lost, ui(), false).await.unwrap_err();
    let message = failure.message.unwrap();
    assert!(message.ends_with("it did not come about that mail-0 runs on node-1"), "{message}");
}

#[tokio::test]
async fn a_command_that_fails_is_an_error() {
    let wrong = [DemoStep::Command("kubectl reserve pod nobody-0 --yes")];
    let failure = run(&wrong, ui(), false).await.unwrap_err();
    assert!(failure.message.unwrap().starts_with("`kubectl reserve pod nobody-0 --yes`: "));
}

#[tokio::test]
async fn a_command_that_does_not_fail_as_it_should_is_an_error() {
    let wrong = [DemoStep::FailingCommand("kubectl reserve list", Exit::NoFit)];
    let failure = run(&wrong, ui(), false).await.unwrap_err();
    assert_eq!(failure.message.as_deref(), Some("`kubectl reserve list` did not end with 10"));
}
