//! What differs between operating systems, under one name: `unix.rs` and its twin `windows.rs`.

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

/// Who asked the command to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// A person, with Ctrl-C.
    Interrupt,
    /// Somebody else: the system, or whoever started it.
    Terminate,
}
