//! "reading 216 nodes, 9,431 pods": on a terminal, and gone when everything is there.

use crate::ui::Ui;
use std::cell::Cell;
use std::io::{Write, stderr};

/// Shows how far the reading is.
pub(super) struct Progress {
    is_shown: bool,
    said: Cell<bool>,
}

impl Progress {
    pub(super) fn new(ui: &Ui) -> Self {
        Self { is_shown: ui.is_talk_terminal && !ui.is_quiet, said: Cell::new(false) }
    }

    /// So many are there.
    pub(super) fn show(&self, nodes: usize, pods: usize) {
        if self.is_shown {
            self.said.set(true);
            let _ = write!(stderr(), "\r{}", line(nodes, pods));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.said.get() {
            // Over it, and back: no terminal is too dumb for that.
            let _ = write!(stderr(), "\r{:60}\r", "");
        }
    }
}

pub(super) fn line(nodes: usize, pods: usize) -> String {
    format!("reading {} nodes, {} pods", grouped(nodes), grouped(pods))
}

/// A number as people write it.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(line(216, 9431), "reading 216 nodes, 9,431 pods");
        assert_eq!(line(1_000_000, 0), "reading 1,000,000 nodes, 0 pods");
    }
}
