//! Output that is shown again when it changes, for `--watch`: on a terminal in its place, in a pipe below what was there.

use super::{Ui, printer};
use crate::error::Failure;

/// Home, and what erases the rest of the screen.
const HOME: &str = "\u{1b}[H";
const ERASE_BELOW: &str = "\u{1b}[J";

/// The text that was shown last.
#[derive(Default)]
pub(crate) struct Redraw {
    shown: Option<String>,
}

impl Redraw {
    /// Shows `text`, unless it is what is shown already.
    pub(crate) fn show(&mut self, ui: &Ui, text: String) -> Result<(), Failure> {
        if self.shown.as_ref() == Some(&text) {
            return Ok(());
        }
        let is_first = self.shown.is_none();
        if ui.is_stdout_terminal && ui.has_progress {
            // Each line erases what is left of the line before it.
            let lines = text.replace('\n', "\u{1b}[K\n");
            printer::out(&format!("{}{HOME}{lines}{ERASE_BELOW}", if is_first { "\u{1b}[2J" } else { "" }))?;
        } else {
            printer::out(&format!("{}{text}", if is_first { "" } else { "\n" }))?;
        }
        self.shown = Some(text);
        Ok(())
    }
}
