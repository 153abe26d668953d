//! Everything between the command and the person: what is printed, and how; later prompts, progress, Ctrl-C.

pub(crate) mod printer;

use crate::cli::{Talk, When};
use std::io::{IsTerminal, stderr, stdin, stdout};

/// What is known about the person at the other end.
#[derive(Debug, Clone)]
pub(crate) struct Ui {
    /// Whether data goes to a terminal.
    pub(crate) is_out_terminal: bool,
    /// Whether talk goes to a terminal.
    pub(crate) is_talk_terminal: bool,
    /// Whether questions can be asked: stdin and stderr are terminals, and nobody forbade it.
    pub(crate) can_ask: bool,
    /// Whether data may have colours.
    pub(crate) has_color: bool,
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
}

impl Ui {
    /// What the flags, the streams and the environment say.
    pub(crate) fn new(talk: &Talk, around: &Surroundings) -> Self {
        let is_out_terminal = stdout().is_terminal();
        let is_talk_terminal = stderr().is_terminal();
        let is_set = |value: &Option<String>| value.as_deref().is_some_and(|value| !value.is_empty());
        let is_forced = is_set(&around.force_color) && around.force_color.as_deref() != Some("0");
        let is_plain = is_set(&around.no_color) || around.term.as_deref() == Some("dumb");
        let has_color = match talk.color {
            _ if talk.no_color => false,
            When::Always => true,
            When::Never => false,
            When::Auto => !is_plain && (is_out_terminal || is_forced),
        };
        let is_utf8 = |locale: &str| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        };
        Self {
            is_out_terminal,
            is_talk_terminal,
            can_ask: !talk.no_input && stdin().is_terminal() && is_talk_terminal,
            has_color,
            has_unicode: !talk.ascii && around.locale.as_deref().is_some_and(is_utf8),
            is_agreed: talk.yes,
            is_quiet: talk.quiet,
        }
    }
}

impl Surroundings {
    /// The process's own.
    #[expect(clippy::disallowed_methods, reason = "the command is the outermost layer")]
    pub(crate) fn read() -> Self {
        let get = |name: &str| std::env::var(name).ok();
        let locale =
            ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(get).find(|value| !value.is_empty());
        Self { no_color: get("NO_COLOR"), force_color: get("CLICOLOR_FORCE"), term: get("TERM"), locale }
    }
}
