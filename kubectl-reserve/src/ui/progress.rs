//! Something that moves while one waits: on stderr, on a terminal only. Whatever is printed meanwhile goes above it.

use super::Ui;
use super::printer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The one that is shown now. It is the terminal's state, and the program has one terminal.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// How often the spinner turns.
const TICK: Duration = Duration::from_millis(100);

/// What is done where there is no terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Otherwise {
    /// Nothing is said.
    Nothing,
    /// Each message is a line.
    Lines,
}

/// Progress being shown. Gone from the screen when dropped.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    has_lines: bool,
}

impl Ui {
    /// Something that turns, with a message that can change.
    pub(crate) fn spinner(&self, message: &str, otherwise: Otherwise) -> Progress {
        let ticks = if self.has_unicode { "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ " } else { "|/-\\ " };
        let style = ProgressStyle::with_template("{spinner} {msg}");
        let style = style.map(|style| style.tick_chars(ticks));
        self.progress(ProgressBar::new_spinner(), style.ok(), message, otherwise)
    }

    /// A bar of `length` steps, with a message that can change.
    pub(crate) fn bar(&self, length: u64, message: &str, otherwise: Otherwise) -> Progress {
        let fill = if self.has_unicode { "█▉▊▋▌▍▎▏ " } else { "=> " };
        let style = ProgressStyle::with_template("[{bar:20}] {pos}/{len} {msg}");
        let style = style.map(|style| style.progress_chars(fill));
        self.progress(ProgressBar::new(length), style.ok(), message, otherwise)
    }

    fn progress(
        &self,
        bar: ProgressBar,
        style: Option<ProgressStyle>,
        message: &str,
        otherwise: Otherwise,
    ) -> Progress {
        let has_lines = !self.has_progress && !self.is_quiet && otherwise == Otherwise::Lines;
        if !self.has_progress {
            let progress = Progress { bar: None, has_lines };
            progress.message(message);
            return progress;
        }
        let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
        // There is one line for it: what is part of something larger is not shown by itself.
        if shown.is_some() {
            return Progress { bar: None, has_lines };
        }
        bar.set_draw_target(ProgressDrawTarget::stderr());
        if let Some(style) = style {
            bar.set_style(style);
        }
        bar.set_message(message.to_owned());
        bar.enable_steady_tick(TICK);
        *shown = Some(bar.clone());
        Progress { bar: Some(bar), has_lines }
    }
}

impl Progress {
    /// Says what happens now.
    pub(crate) fn message(&self, message: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(message.to_owned()),
            None if self.has_lines => printer::say(message),
            None => {}
        }
    }

    /// So many steps are done.
    pub(crate) fn done(&self, steps: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(steps);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = None;
            bar.finish_and_clear();
        }
    }
}

/// Does something that writes to the terminal, with the progress out of the way.
pub(crate) fn suspended<T>(act: impl FnOnce() -> T) -> T {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match shown {
        Some(bar) => bar.suspend(act),
        None => act(),
    }
}
