//! What goes wrong, in words, with the next step and the exit code.

use std::fmt;

/// The exit codes other than success; clap itself exits with 2 on bad usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Something failed.
    Error = 1,
    /// What was typed makes no sense.
    Usage = 2,
    /// The pod that was explained has no place.
    NoFit = 10,
    /// A disruption budget forbids it.
    Budget = 11,
    /// What was waited for did not come.
    TimedOut = 12,
    /// The node has no room for the reservation.
    NoRoom = 13,
    /// The caller may not do that.
    Forbidden = 14,
    /// Refused, because it would break something; a flag allows it.
    Unsafe = 15,
    /// It is ready on another node than the required one.
    Elsewhere = 16,
    /// Ctrl-C, as shells count it.
    Interrupted = 130,
}

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// What happened; none when the output already says it.
    pub(crate) message: Option<String>,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Error, message: Some(message.to_string()), hint: None }
    }

    /// Something that was typed and makes no sense.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(message).exit(Exit::Usage)
    }

    /// An exit code whose reason has been printed as the answer.
    pub(crate) fn silent(exit: Exit) -> Self {
        Self { exit, message: None, hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    pub(crate) fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }
}

/// Something that the caller may not do, and the rule that would allow it.
pub(crate) fn forbidden(what: &str, needs: &str) -> Failure {
    Failure::new(format!("you may not {what}")).hint(format!("needs: {needs}")).exit(Exit::Forbidden)
}
