//! Spinners and progress bars, on stderr and only on a terminal. Whatever is printed meanwhile goes above them. Entry points:
//! [`Ui::spinner`], [`Ui::bar`].

use super::Ui;
use super::printer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The bar or spinner on the screen. It is the terminal's state, and the program has one terminal.
static CURRENT: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// The interval between two frames of a spinner.
const TICK: Duration = Duration::from_millis(100);

/// What is shown instead of progress if stderr is no terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgressFallback {
    Nothing,
    /// Each message is printed as a line.
    Lines,
}

/// A bar or spinner on the screen, if progress is shown. It is removed from the screen when this is dropped.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    has_lines: bool,
}

impl Ui {
    pub(crate) fn spinner(&self, message: &str, fallback: ProgressFallback) -> Progress {
        let ticks = if self.has_unicode { "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ " } else { "|/-\\ " };
        let style = ProgressStyle::with_template("{spinner} {msg}");
        let style = style.map(|style| style.tick_chars(ticks));
        self.progress(ProgressBar::new_spinner(), style.ok(), message, fallback)
    }

    /// A bar of `length` steps, with a message that can change.
    pub(crate) fn bar(&self, length: u64, message: &str, fallback: ProgressFallback) -> Progress {
        let fill = if self.has_unicode { "█▉▊▋▌▍▎▏ " } else { "=> " };
        let style = ProgressStyle::with_template("[{bar:20}] {pos}/{len} {msg}");
        let style = style.map(|style| style.progress_chars(fill));
        self.progress(ProgressBar::new(length), style.ok(), message, fallback)
    }

    fn progress(
        &self,
        bar: ProgressBar,
        style: Option<ProgressStyle>,
        message: &str,
        fallback: ProgressFallback,
    ) -> Progress {
        let has_lines = !self.has_progress && !self.is_quiet && fallback == ProgressFallback::Lines;
        if !self.has_progress {
            let progress = Progress { bar: None, has_lines };
            progress.message(message);
            return progress;
        }
        let mut shown = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        // The screen has one line for progress: the progress of a part is not shown while that of the whole is.
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
    /// Changes the message: what happens now.
    pub(crate) fn message(&self, message: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(message.to_owned()),
            None if self.has_lines => printer::say(message),
            None => {}
        }
    }

    /// Sets how many steps are done.
    pub(crate) fn done(&self, steps: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(steps);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = None;
            bar.finish_and_clear();
        }
    }
}

/// Runs `act`, which writes to the terminal, with the progress hidden.
pub(crate) fn suspend<T>(act: impl FnOnce() -> T) -> T {
    let shown = CURRENT.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match shown {
        Some(bar) => bar.suspend(act),
        None => act(),
    }
}
