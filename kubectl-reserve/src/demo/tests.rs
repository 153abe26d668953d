//! The story is short enough, narrow enough, and notices when a place is lost.

use super::stage::tell;
use super::story::{Fact, STORY, Step};
use crate::cli::Talk;
use crate::error::Exit;
use crate::ui::{Streams, Surroundings, Ui};
use std::time::Duration;

fn ui() -> Ui {
    Ui::new(&Talk { quiet: true, ..Talk::default() }, &Surroundings::default(), Streams::default())
}

#[test]
fn it_takes_less_than_fifteen_seconds() {
    let pauses: Duration = STORY.iter().map(|step| step.before() + step.after()).sum();
    // What is left is for the machine, however slow.
    assert!((Duration::from_secs(10)..=Duration::from_secs(13)).contains(&pauses), "{pauses:?}");
}

#[test]
fn every_line_fits_a_narrow_terminal() {
    for step in STORY {
        let (Step::Part(text) | Step::Say(text) | Step::Type(text) | Step::TypeFor(text, _)) = step else {
            continue;
        };
        assert!(text.len() <= 78, "{} letters: {text}", text.len());
    }
}

#[tokio::test]
async fn a_lost_place_is_an_error() {
    let lost = [Step::Type("kubectl delete pod mail-0"), Step::Until(Fact::Runs("mail-0", "node-1"))];
    let failure = tell(&lost, ui(), false).await.unwrap_err();
    let message = failure.message.unwrap();
    assert!(message.ends_with("it did not come about that mail-0 runs on node-1"), "{message}");
}

#[tokio::test]
async fn a_command_that_fails_is_an_error() {
    let wrong = [Step::Type("kubectl reserve pod nobody-0 --yes")];
    let failure = tell(&wrong, ui(), false).await.unwrap_err();
    assert!(failure.message.unwrap().starts_with("`kubectl reserve pod nobody-0 --yes`: "));
}

#[tokio::test]
async fn a_command_that_does_not_fail_as_it_should_is_an_error() {
    let wrong = [Step::TypeFor("kubectl reserve list", Exit::NoFit)];
    let failure = tell(&wrong, ui(), false).await.unwrap_err();
    assert_eq!(failure.message.as_deref(), Some("`kubectl reserve list` did not end with 10"));
}
