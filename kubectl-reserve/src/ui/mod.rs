//! The user interface: output (`printer`), prompts (`ask`), progress (`progress`), colours (`style`), Ctrl-C (`signal`), and runs
//! inside another program (`embedded`).
//!
//! Data goes to stdout, messages go to stderr. Entry point: [`Ui::new`] with the flags, the environment and the streams; then
//! [`printer::configure`]. The modules here know nothing about reservations or the cluster.

mod ask;
pub(crate) mod embedded;
pub(crate) mod printer;
pub(crate) mod progress;
pub(crate) mod redraw;
pub(crate) mod signal;
pub(crate) mod style;
mod width;

pub(crate) use style::{Paint, Tone};

use crate::cli::{ColorMode, TerminalFlags};
use std::io::{IsTerminal, stderr, stdin, stdout};

/// What the flags, the environment and the streams allow: prompts, colours, progress.
#[derive(Debug, Clone)]
pub(crate) struct Ui {
    pub(crate) is_stdout_terminal: bool,
    pub(crate) is_stderr_terminal: bool,
    pub(crate) is_stdin_terminal: bool,
    /// Whether prompts are possible: stdin and stderr are terminals, and `--no-input` is not set.
    pub(crate) can_ask: bool,
    /// Whether stdout gets colours.
    pub(crate) has_color: bool,
    /// Whether stderr gets colours.
    pub(crate) has_stderr_color: bool,
    /// Whether progress is shown as a spinner or a bar.
    pub(crate) has_progress: bool,
    /// Whether characters beyond ASCII may be used.
    pub(crate) has_unicode: bool,
    /// Whether `--yes` is set, so that no prompt is needed.
    pub(crate) is_agreed: bool,
    /// Whether only data and errors are printed.
    pub(crate) is_quiet: bool,
}

/// The environment variables about colours, characters and progress.
#[derive(Debug, Default)]
pub(crate) struct TerminalEnvironment {
    pub(crate) no_color: Option<String>,
    pub(crate) force_color: Option<String>,
    pub(crate) term: Option<String>,
    pub(crate) locale: Option<String>,
    /// `KUBECTL_RESERVE_PROGRESS`: auto, always or never.
    pub(crate) progress: Option<String>,
}

/// Which of the process's streams are terminals.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Streams {
    pub(crate) is_stdin_terminal: bool,
    pub(crate) is_stdout_terminal: bool,
    pub(crate) is_stderr_terminal: bool,
}

impl Ui {
    /// What the flags, the environment and the streams allow, in this order of precedence.
    pub(crate) fn new(flags: &TerminalFlags, environment: &TerminalEnvironment, streams: Streams) -> Self {
        let Streams { is_stdin_terminal, is_stdout_terminal, is_stderr_terminal } = streams;
        let is_dumb = environment.term.as_deref() == Some("dumb");
        let is_moving = match environment.progress.as_deref() {
            Some("always") => true,
            Some("never") => false,
            // A user who wants no colours wants no other escape sequences either.
            _ => is_stderr_terminal && !is_dumb && !is_set(&environment.no_color),
        };
        Self {
            is_stdout_terminal,
            is_stderr_terminal,
            is_stdin_terminal,
            can_ask: !flags.no_input && is_stdin_terminal && is_stderr_terminal && !is_dumb,
            has_color: has_color(flags, environment, is_stdout_terminal),
            has_stderr_color: has_color(flags, environment, is_stderr_terminal),
            has_progress: is_moving && !flags.quiet,
            has_unicode: !flags.ascii && environment.locale.as_deref().is_some_and(is_utf8),
            is_agreed: flags.yes,
            is_quiet: flags.quiet,
        }
    }

    /// The colours for stdout.
    pub(crate) fn paint(&self) -> Paint {
        Paint { has_color: self.has_color }
    }
}

/// Whether a stream may have colours: the flags first, then the environment, then whether it is a terminal.
fn has_color(flags: &TerminalFlags, environment: &TerminalEnvironment, is_terminal: bool) -> bool {
    let is_forced = is_set(&environment.force_color) && environment.force_color.as_deref() != Some("0");
    let is_plain = is_set(&environment.no_color) || environment.term.as_deref() == Some("dumb");
    match flags.color {
        _ if flags.no_color => false,
        ColorMode::Always => true,
        ColorMode::Never => false,
        ColorMode::Auto => !is_plain && (is_terminal || is_forced),
    }
}

fn is_set(value: &Option<String>) -> bool {
    value.as_deref().is_some_and(|value| !value.is_empty())
}

fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

impl Streams {
    /// The streams of this process; no terminals if the command runs inside another program.
    pub(crate) fn of_process() -> Self {
        if embedded::is_embedded() {
            return Self::default();
        }
        Self {
            is_stdin_terminal: stdin().is_terminal(),
            is_stdout_terminal: stdout().is_terminal(),
            is_stderr_terminal: stderr().is_terminal(),
        }
    }
}

impl TerminalEnvironment {
    /// The variables of this process; none if the command runs inside another program.
    #[expect(clippy::disallowed_methods, reason = "the command is the outermost layer")]
    pub(crate) fn read() -> Self {
        if embedded::is_embedded() {
            return Self::default();
        }
        let get = |name: &str| std::env::var(name).ok();
        let locale =
            ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(get).find(|value| !value.is_empty());
        Self {
            no_color: get("NO_COLOR"),
            force_color: get("CLICOLOR_FORCE"),
            term: get("TERM"),
            locale,
            progress: get("KUBECTL_RESERVE_PROGRESS"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Streams, TerminalEnvironment, Ui};
    use crate::cli::{ColorMode, TerminalFlags};

    const TERMINAL: Streams =
        Streams { is_stdin_terminal: true, is_stdout_terminal: true, is_stderr_terminal: true };

    fn set(value: &str) -> Option<String> {
        Some(value.to_owned())
    }

    #[test]
    fn colours_are_for_terminals_and_whoever_insists() {
        let color = |color, environment: &TerminalEnvironment, streams| {
            Ui::new(&TerminalFlags { color, ..TerminalFlags::default() }, environment, streams).has_color
        };
        let plain = TerminalEnvironment { no_color: set("1"), ..TerminalEnvironment::default() };
        let dumb = TerminalEnvironment { term: set("dumb"), ..TerminalEnvironment::default() };
        let forced = TerminalEnvironment { force_color: set("1"), ..TerminalEnvironment::default() };
        let nothing = TerminalEnvironment { no_color: set(""), ..TerminalEnvironment::default() };
        assert!(color(ColorMode::Auto, &nothing, TERMINAL));
        for environment in [&plain, &dumb] {
            assert!(!color(ColorMode::Auto, environment, TERMINAL));
            assert!(color(ColorMode::Always, environment, Streams::default()));
        }
        assert!(!color(ColorMode::Auto, &nothing, Streams::default()));
        assert!(color(ColorMode::Auto, &forced, Streams::default()));
        assert!(!color(ColorMode::Never, &forced, TERMINAL));
        let both = TerminalFlags { color: ColorMode::Always, no_color: true, ..TerminalFlags::default() };
        assert!(!Ui::new(&both, &nothing, TERMINAL).has_color);
    }

    #[test]
    fn questions_and_progress_are_for_terminals() {
        let environment = TerminalEnvironment::default();
        let ui = Ui::new(&TerminalFlags::default(), &environment, TERMINAL);
        assert!(ui.can_ask && ui.has_progress);
        let pipe = Streams { is_stderr_terminal: false, ..TERMINAL };
        let ui = Ui::new(&TerminalFlags::default(), &environment, pipe);
        assert!(!ui.can_ask && !ui.has_progress);
        let silent = TerminalFlags { no_input: true, quiet: true, ..TerminalFlags::default() };
        let ui = Ui::new(&silent, &environment, TERMINAL);
        assert!(!ui.can_ask && !ui.has_progress);
        let never = TerminalEnvironment { progress: set("never"), ..TerminalEnvironment::default() };
        assert!(!Ui::new(&TerminalFlags::default(), &never, TERMINAL).has_progress);
        let plain = TerminalEnvironment { no_color: set("1"), ..TerminalEnvironment::default() };
        assert!(!Ui::new(&TerminalFlags::default(), &plain, TERMINAL).has_progress);
    }
}
