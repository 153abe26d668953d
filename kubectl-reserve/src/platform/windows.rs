//! Windows: Ctrl-C, Ctrl-Break and the closing window; hard links or copies, because symbolic links need a privilege.

use super::Signal;
use std::io;
use std::path::Path;
use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, ctrl_break, ctrl_c, ctrl_close};

/// The signals that ask the command to end. While this value exists, they do not end the process by themselves.
pub(crate) struct Signals {
    interrupt: CtrlC,
    stop: CtrlBreak,
    close: CtrlClose,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: ctrl_c()?, stop: ctrl_break()?, close: ctrl_close()? })
    }

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

/// Makes `at` a hard link to `program`, or a copy of it.
pub(crate) fn link(program: &Path, at: &Path) -> io::Result<()> {
    std::fs::hard_link(program, at).or_else(|_| std::fs::copy(program, at).map(drop))
}

/// Writes a file. In the folder of a user only that user can read it.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    std::fs::write(path, text)
}

/// Creates a file, and fails if it exists. In the folder of a user only that user can read it.
pub(crate) fn create_private(path: &Path, text: &str) -> io::Result<()> {
    use std::io::Write;
    std::fs::File::create_new(path)?.write_all(text.as_bytes())
}

/// The PowerShell command that sets an environment variable.
pub(crate) fn set_variable(name: &str, value: &str) -> String {
    format!("$env:{name} = '{}'", value.replace('\'', "''"))
}

/// The file name of the program called `name`.
pub(crate) fn link_name(name: &str) -> String {
    format!("{name}.exe")
}

/// Whether a file is executable, by its extension.
pub(crate) fn is_executable(path: &Path) -> bool {
    let is_program =
        |end: &std::ffi::OsStr| ["exe", "bat", "cmd", "com"].iter().any(|one| end.eq_ignore_ascii_case(one));
    path.is_file() && path.extension().is_some_and(is_program)
}
