//! The widths of the terminals that stdout and stderr are.

use super::Ui;
use dialoguer::console::Term;

/// The least width that text is laid out for: below it nothing is readable anyway.
const WIDTH_MIN: usize = 40;

impl Ui {
    /// The width of stdout's terminal. `None` in a pipe, where nothing is shortened.
    pub(crate) fn width(&self) -> Option<usize> {
        self.is_stdout_terminal.then(|| columns(&Term::stdout()))
    }

    /// The width of stderr's terminal. `None` in a pipe, where a message stays on one line so that it can be searched for.
    pub(super) fn stderr_width(&self) -> Option<usize> {
        self.is_stderr_terminal.then(|| columns(&Term::stderr()))
    }
}

fn columns(terminal: &Term) -> usize {
    usize::from(terminal.size().1).max(WIDTH_MIN)
}
