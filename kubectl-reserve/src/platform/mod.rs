//! What differs between operating systems: `unix.rs` and `windows.rs` have the same functions.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{Signals, create_private, is_executable, link, link_name, set_variable, write_private};
#[cfg(windows)]
pub(crate) use windows::{
    Signals, create_private, is_executable, link, link_name, set_variable, write_private,
};

/// A request to end the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM, or its counterpart on Windows.
    Terminate,
}
