//! Windows: Ctrl-C, Ctrl-Break and the closing window; copies where Unix has links, which need a privilege here.

use super::Signal;
use std::io;
use std::path::Path;
use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, ctrl_break, ctrl_c, ctrl_close};

/// The signals that ask the command to end. While this lives, they no longer end it by themselves.
pub(crate) struct Signals {
    interrupt: CtrlC,
    stop: CtrlBreak,
    close: CtrlClose,
}

impl Signals {
    /// Begins to listen.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: ctrl_c()?, stop: ctrl_break()?, close: ctrl_close()? })
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            biased;
            Some(()) = self.close.recv() => Signal::Terminate,
            Some(()) = self.stop.recv() => Signal::Terminate,
            Some(()) = self.interrupt.recv() => Signal::Interrupt,
            else => std::future::pending().await,
        }
    }
}

/// Makes `at` another name of `program`.
pub(crate) fn link(program: &Path, at: &Path) -> io::Result<()> {
    std::fs::hard_link(program, at).or_else(|_| std::fs::copy(program, at).map(drop))
}

/// Writes a file. In a person's own folder nobody else can read it.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    std::fs::write(path, text)
}

/// Makes a file, and fails if there is one. In a person's own folder nobody else can read it.
pub(crate) fn create_private(path: &Path, text: &str) -> io::Result<()> {
    use std::io::Write;
    std::fs::File::create_new(path)?.write_all(text.as_bytes())
}

/// What one types to set a variable of the environment, in PowerShell.
pub(crate) fn set_variable(name: &str, value: &str) -> String {
    format!("$env:{name} = '{}'", value.replace('\'', "''"))
}

/// What a program of that name is called.
pub(crate) fn link_name(name: &str) -> String {
    format!("{name}.exe")
}

/// Whether a file can be run: its name says so.
pub(crate) fn is_executable(path: &Path) -> bool {
    let is_program =
        |end: &std::ffi::OsStr| ["exe", "bat", "cmd", "com"].iter().any(|one| end.eq_ignore_ascii_case(one));
    path.is_file() && path.extension().is_some_and(is_program)
}
