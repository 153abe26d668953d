//! Unix: SIGINT and SIGTERM, symbolic links, file modes. Only this file uses `std::os::unix`.

use super::Signal;
use std::io;
use std::path::{Path, PathBuf};
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

/// The signals that ask the command to end. While this value exists, they do not end the process by themselves.
pub(crate) struct Signals {
    interrupt: Stream,
    terminate: Stream,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        let terminate = signal(SignalKind::terminate())?;
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate })
    }

    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            biased;
            Some(()) = self.terminate.recv() => Signal::Terminate,
            Some(()) = self.interrupt.recv() => Signal::Interrupt,
            else => std::future::pending().await,
        }
    }
}

/// Makes `at` a symbolic link to `program`, which is in the same folder.
pub(crate) fn link(program: &Path, at: &Path) -> io::Result<()> {
    let name = program.file_name().map_or_else(|| program.to_owned(), PathBuf::from);
    std::os::unix::fs::symlink(name, at)
}

/// Writes a file that only its owner can read.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// Creates a file that only its owner can read, and fails if it exists.
pub(crate) fn create_private(path: &Path, text: &str) -> io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// The shell command that sets an environment variable.
pub(crate) fn set_variable(name: &str, value: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:".contains(letter);
    match value.chars().all(is_plain) {
        true => format!("export {name}={value}"),
        false => format!("export {name}='{}'", value.replace('\'', "'\\''")),
    }
}

/// The file name of the program called `name`.
pub(crate) fn link_name(name: &str) -> String {
    name.to_owned()
}

pub(crate) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let is_run = |meta: std::fs::Metadata| meta.is_file() && meta.permissions().mode() & 0o111 != 0;
    std::fs::metadata(path).is_ok_and(is_run)
}
