//! How wide the terminal is that data goes to.

use super::Ui;
use dialoguer::console::Term;

/// Narrower than this nothing reads well anyway.
const WIDTH_MIN: usize = 40;

impl Ui {
    /// The width of the terminal that data goes to. In a pipe nothing is ever shortened.
    pub(crate) fn width(&self) -> Option<usize> {
        let columns = || usize::from(Term::stdout().size().1).max(WIDTH_MIN);
        self.is_out_terminal.then(columns)
    }
}
