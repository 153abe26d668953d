//! The error of a command: a message, a hint what to do next, and the exit code.

use std::fmt;

/// The exit codes other than success; clap itself exits with 2 on bad usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Any failure without a code of its own.
    Error = 1,
    /// Invalid arguments.
    Usage = 2,
    /// A pod fits on no node.
    NoFit = 10,
    /// A PodDisruptionBudget forbids the eviction.
    Budget = 11,
    /// The timeout passed.
    TimedOut = 12,
    /// The node has no room for the reservation.
    NoRoom = 13,
    /// The caller lacks a right.
    Forbidden = 14,
    /// Refused because it is not safe; a flag allows it.
    Unsafe = 15,
    /// The replacement is ready on another node than the required one.
    Elsewhere = 16,
    /// Ctrl-C: 128 plus the number of SIGINT, as shells do.
    Interrupted = 130,
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// The message; `None` if the output already says it.
    pub(crate) message: Option<String>,
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Error, message: Some(message.to_string()), hint: None }
    }

    /// An invalid argument.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(message).exit(Exit::Usage)
    }

    /// An exit code without a message, because the output already says why.
    pub(crate) fn silent(exit: Exit) -> Self {
        Self { exit, message: None, hint: None }
    }

    /// Whether the message says that an object was not found.
    pub(crate) fn is_not_found(&self) -> bool {
        self.message.as_ref().is_some_and(|message| message.starts_with("Error from server (NotFound)"))
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

/// The error for a caller who may not do `what`, with the rule that would allow it.
pub(crate) fn forbidden(what: &str, needs: &str) -> Failure {
    Failure::new(format!("you may not {what}")).hint(format!("needs: {needs}")).exit(Exit::Forbidden)
}
