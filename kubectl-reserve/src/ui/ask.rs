//! Prompts. Without a terminal there is no prompt, but an error that names the flag to pass instead.

use super::{Ui, printer, progress, signal};
use crate::error::{Exit, Failure};
use dialoguer::console::Term;
use dialoguer::{Confirm, Error, Select};
use std::io::{self, ErrorKind};

impl Ui {
    /// Asks a yes/no question; Enter means no. With `--yes` the answer is yes without a prompt. `otherwise` is the end of the
    /// error message if no prompt is possible: `pass --yes` and then, for example, `to recreate pod/web-1`.
    pub(crate) fn confirm(&self, question: &str, otherwise: &str) -> Result<bool, Failure> {
        if self.is_agreed {
            return Ok(true);
        }
        if !self.can_ask {
            return Err(Failure::usage(format!("{}; pass --yes {otherwise}", self.why_not_asked())));
        }
        let ask =
            || Confirm::new().with_prompt(question).default(false).wait_for_newline(true).interact_opt();
        Ok(answer(ask)?.unwrap_or(false))
    }

    /// Lets the user choose one of `items`, without a default. `None`: the user chose none. `otherwise` makes the error if no
    /// prompt is possible: it says what to type instead.
    pub(crate) fn choose(
        &self,
        question: &str,
        items: &[String],
        otherwise: impl FnOnce() -> Failure,
    ) -> Result<Option<usize>, Failure> {
        if !self.can_ask {
            return Err(otherwise());
        }
        // The screen keeps the question with the answer, not the list.
        let chosen =
            answer(|| Select::new().with_prompt(question).items(items).report(false).interact_opt())?;
        if let Some(item) = chosen.and_then(|index| items.get(index)) {
            let asked = question.lines().next().unwrap_or_default();
            printer::say(&format!("{asked} {}", item.split(' ').next().unwrap_or_default()));
        }
        Ok(chosen)
    }

    fn why_not_asked(&self) -> &'static str {
        if self.is_stdin_terminal { "there is nobody to ask" } else { "stdin is not a terminal" }
    }
}

/// Runs the prompt `ask` with the progress hidden, and restores the terminal's cursor after an error.
fn answer<T>(ask: impl FnOnce() -> Result<T, Error>) -> Result<T, Failure> {
    // Without this, Ctrl-C would end the program with the cursor hidden.
    let _signals = signal::take_over()?;
    progress::suspend(ask).map_err(|Error::IO(error)| {
        let _ = Term::stderr().show_cursor();
        not_answered(&error)
    })
}

fn not_answered(error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::Interrupted => {
            // The shell's prompt begins on a line of its own.
            printer::say_always("");
            Failure::silent(Exit::Interrupted)
        }
        _ => Failure::new(format!("no answer: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ui;
    use crate::error::{Exit, Failure};

    const NOBODY: Ui = Ui {
        is_stdout_terminal: false,
        is_stderr_terminal: false,
        is_stdin_terminal: false,
        can_ask: false,
        has_color: false,
        has_stderr_color: false,
        has_progress: false,
        has_unicode: false,
        is_agreed: false,
        is_quiet: false,
    };

    #[test]
    fn nobody_is_asked_where_nobody_can_answer() {
        let refused = NOBODY.confirm("Really?", "to recreate pod/web-1").unwrap_err();
        assert_eq!(refused.exit, Exit::Usage);
        let message = refused.message.unwrap();
        assert_eq!(message, "stdin is not a terminal; pass --yes to recreate pod/web-1");
        let forbidden = Ui { is_stdin_terminal: true, ..NOBODY }.confirm("Really?", "").unwrap_err();
        assert!(forbidden.message.unwrap().starts_with("there is nobody to ask; pass --yes"));
    }

    #[test]
    fn yes_agrees_and_never_chooses() {
        let agreed = Ui { is_agreed: true, ..NOBODY };
        assert!(agreed.confirm("Really?", "").unwrap());
        let items = ["a".to_owned()];
        let refused = agreed.choose("Which?", &items, || Failure::usage("name one")).unwrap_err();
        assert_eq!(refused.message.as_deref(), Some("name one"));
    }
}
