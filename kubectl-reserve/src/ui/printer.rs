//! The only mouth: data to stdout, talk to stderr.

use crate::error::Failure;
use std::io::{ErrorKind, Write, stderr, stdout};
use std::process::ExitCode;

/// Prints data. Whoever closes the pipe has read enough.
pub(crate) fn out(text: &str) -> Result<(), Failure> {
    let mut stdout = stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::new(format!("write: {error}"))),
        _ => Ok(()),
    }
}

/// Prints a line of talk. If nobody can hear it there is nobody to tell.
pub(crate) fn say(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

/// Prints a warning.
pub(crate) fn warn(text: &str) {
    say(&format!("Warning: {text}"));
}

/// Says what went wrong, if anything, and turns it into the exit code.
pub(crate) fn finish(outcome: Result<(), Failure>) -> ExitCode {
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    if let Some(message) = &failure.message {
        // What the server says stands for itself, as in kubectl.
        let prefix = if message.starts_with("Error from server") { "" } else { "error: " };
        say(&format!("{prefix}{message}"));
    }
    if let Some(hint) = &failure.hint {
        say(&format!("\nhint: {hint}"));
    }
    ExitCode::from(failure.exit as u8)
}
