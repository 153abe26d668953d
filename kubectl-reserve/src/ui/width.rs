//! How wide the terminals are that data and talk go to.

use super::Ui;
use dialoguer::console::Term;

/// Narrower than this nothing reads well anyway.
const WIDTH_MIN: usize = 40;

impl Ui {
    /// The width of the terminal that data goes to. In a pipe nothing is ever shortened.
    pub(crate) fn width(&self) -> Option<usize> {
        self.is_out_terminal.then(|| columns(&Term::stdout()))
    }

    /// The width of the terminal that talk goes to. In a pipe a message is one line, which can be searched for.
    pub(super) fn talk_width(&self) -> Option<usize> {
        self.is_talk_terminal.then(|| columns(&Term::stderr()))
    }
}

fn columns(terminal: &Term) -> usize {
    usize::from(terminal.size().1).max(WIDTH_MIN)
}
