//! Everything between the command and the person: what is printed, and how; prompts, progress, colours, Ctrl-C.

mod ask;
pub(crate) mod inside;
pub(crate) mod printer;
pub(crate) mod progress;
pub(crate) mod signal;
pub(crate) mod style;
mod width;

pub(crate) use style::{Paint, Tone};

use crate::cli::{Talk, When};
use std::io::{IsTerminal, stderr, stdin, stdout};

/// What is known about the person at the other end.
#[derive(Debug, Clone)]
pub(crate) struct Ui {
    /// Whether data goes to a terminal.
    pub(crate) is_out_terminal: bool,
    /// Whether talk goes to a terminal.
    pub(crate) is_talk_terminal: bool,
    /// Whether somebody types.
    pub(crate) is_input_terminal: bool,
    /// Whether questions can be asked: stdin and stderr are terminals, and nobody forbade it.
    pub(crate) can_ask: bool,
    /// Whether data may have colours.
    pub(crate) has_color: bool,
    /// Whether talk may have colours.
    pub(crate) has_talk_color: bool,
    /// Whether progress is shown as something that moves.
    pub(crate) has_progress: bool,
    /// Whether characters beyond ASCII may be used.
    pub(crate) has_unicode: bool,
    /// Whether everything was agreed to in advance.
    pub(crate) is_agreed: bool,
    /// Whether only data and errors are wanted.
    pub(crate) is_quiet: bool,
}

/// The environment variables that say something about colours and characters.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    pub(crate) no_color: Option<String>,
    pub(crate) force_color: Option<String>,
    pub(crate) term: Option<String>,
    pub(crate) locale: Option<String>,
    /// `KUBECTL_RESERVE_PROGRESS`: auto, always or never.
    pub(crate) progress: Option<String>,
}

/// What each stream of the process is connected to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Streams {
    pub(crate) is_input_terminal: bool,
    pub(crate) is_out_terminal: bool,
    pub(crate) is_talk_terminal: bool,
}

impl Ui {
    /// What the flags, the streams and the environment say.
    pub(crate) fn new(talk: &Talk, around: &Surroundings, streams: Streams) -> Self {
        let Streams { is_input_terminal, is_out_terminal, is_talk_terminal } = streams;
        let is_dumb = around.term.as_deref() == Some("dumb");
        let is_moving = match around.progress.as_deref() {
            Some("always") => true,
            Some("never") => false,
            // Whoever wants no colours wants no other escape sequences either.
            _ => is_talk_terminal && !is_dumb && !is_set(&around.no_color),
        };
        Self {
            is_out_terminal,
            is_talk_terminal,
            is_input_terminal,
            can_ask: !talk.no_input && is_input_terminal && is_talk_terminal && !is_dumb,
            has_color: has_color(talk, around, is_out_terminal),
            has_talk_color: has_color(talk, around, is_talk_terminal),
            has_progress: is_moving && !talk.quiet,
            has_unicode: !talk.ascii && around.locale.as_deref().is_some_and(is_utf8),
            is_agreed: talk.yes,
            is_quiet: talk.quiet,
        }
    }

    /// For data.
    pub(crate) fn paint(&self) -> Paint {
        Paint { has_color: self.has_color }
    }
}

/// Whether a stream may have colours: the flags first, then the environment, then whether it is a terminal.
fn has_color(talk: &Talk, around: &Surroundings, is_terminal: bool) -> bool {
    let is_forced = is_set(&around.force_color) && around.force_color.as_deref() != Some("0");
    let is_plain = is_set(&around.no_color) || around.term.as_deref() == Some("dumb");
    match talk.color {
        _ if talk.no_color => false,
        When::Always => true,
        When::Never => false,
        When::Auto => !is_plain && (is_terminal || is_forced),
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
    /// The process's own.
    pub(crate) fn look() -> Self {
        if inside::is_so() {
            return Self::default();
        }
        Self {
            is_input_terminal: stdin().is_terminal(),
            is_out_terminal: stdout().is_terminal(),
            is_talk_terminal: stderr().is_terminal(),
        }
    }
}

impl Surroundings {
    /// The process's own.
    #[expect(clippy::disallowed_methods, reason = "the command is the outermost layer")]
    pub(crate) fn read() -> Self {
        if inside::is_so() {
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
    use super::{Streams, Surroundings, Ui};
    use crate::cli::{Talk, When};

    const TERMINAL: Streams =
        Streams { is_input_terminal: true, is_out_terminal: true, is_talk_terminal: true };

    fn set(value: &str) -> Option<String> {
        Some(value.to_owned())
    }

    #[test]
    fn colours_are_for_terminals_and_whoever_insists() {
        let color = |color, around: &Surroundings, streams| {
            Ui::new(&Talk { color, ..Talk::default() }, around, streams).has_color
        };
        let plain = Surroundings { no_color: set("1"), ..Surroundings::default() };
        let dumb = Surroundings { term: set("dumb"), ..Surroundings::default() };
        let forced = Surroundings { force_color: set("1"), ..Surroundings::default() };
        let nothing = Surroundings { no_color: set(""), ..Surroundings::default() };
        assert!(color(When::Auto, &nothing, TERMINAL));
        for around in [&plain, &dumb] {
            assert!(!color(When::Auto, around, TERMINAL));
            assert!(color(When::Always, around, Streams::default()));
        }
        assert!(!color(When::Auto, &nothing, Streams::default()));
        assert!(color(When::Auto, &forced, Streams::default()));
        assert!(!color(When::Never, &forced, TERMINAL));
        let both = Talk { color: When::Always, no_color: true, ..Talk::default() };
        assert!(!Ui::new(&both, &nothing, TERMINAL).has_color);
    }

    #[test]
    fn questions_and_progress_are_for_terminals() {
        let around = Surroundings::default();
        let ui = Ui::new(&Talk::default(), &around, TERMINAL);
        assert!(ui.can_ask && ui.has_progress);
        let pipe = Streams { is_talk_terminal: false, ..TERMINAL };
        let ui = Ui::new(&Talk::default(), &around, pipe);
        assert!(!ui.can_ask && !ui.has_progress);
        let silent = Talk { no_input: true, quiet: true, ..Talk::default() };
        let ui = Ui::new(&silent, &around, TERMINAL);
        assert!(!ui.can_ask && !ui.has_progress);
        let never = Surroundings { progress: set("never"), ..Surroundings::default() };
        assert!(!Ui::new(&Talk::default(), &never, TERMINAL).has_progress);
        let plain = Surroundings { no_color: set("1"), ..Surroundings::default() };
        assert!(!Ui::new(&Talk::default(), &plain, TERMINAL).has_progress);
    }
}
