//! The only mouth: data to stdout, talk to stderr.

use super::progress::suspended;
use super::{Paint, Tone, Ui, inside};
use crate::error::Failure;
use std::io::{ErrorKind, Write, stderr, stdout};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether only data and errors are wanted.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Whether talk may have colours.
static HAS_TALK_COLOR: AtomicBool = AtomicBool::new(false);

/// From now on talks as `ui` says. Before that: plainly.
pub(crate) fn talk_as(ui: &Ui) {
    IS_QUIET.store(ui.is_quiet, Ordering::Relaxed);
    HAS_TALK_COLOR.store(ui.has_talk_color, Ordering::Relaxed);
}

/// Prints data. Whoever closes the pipe has read enough.
pub(crate) fn out(text: &str) -> Result<(), Failure> {
    if inside::hand(text) {
        return Ok(());
    }
    let written = suspended(|| {
        let mut stdout = stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
    });
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::new(format!("write: {error}"))),
        _ => Ok(()),
    }
}

/// Prints a line of talk, unless only data and errors are wanted.
pub(crate) fn say(line: &str) {
    if !IS_QUIET.load(Ordering::Relaxed) {
        tell(line);
    }
}

/// Prints a warning.
pub(crate) fn warn(text: &str) {
    say(&format!("{} {text}", paint().paint(Tone::Careful, "Warning:")));
}

/// Prints a line to stderr whatever was asked for: errors, and what was asked for with `-v`. If nobody can hear it there
/// is nobody to tell.
pub(crate) fn tell(line: &str) {
    if inside::hand(&format!("{line}\n")) {
        return;
    }
    suspended(|| {
        let _ = writeln!(stderr(), "{line}");
    });
}

/// Says what went wrong, if anything, and turns it into the exit code.
pub(crate) fn finish(outcome: Result<(), Failure>) -> ExitCode {
    ExitCode::from(finished(outcome))
}

/// The same, with the exit code as a number.
pub(crate) fn finished(outcome: Result<(), Failure>) -> u8 {
    let Err(failure) = outcome else { return 0 };
    if let Some(message) = &failure.message {
        // What the server says stands for itself, as in kubectl.
        let is_own = message.starts_with("Error from server");
        let prefix = if is_own { String::new() } else { paint().paint(Tone::Bad, "error:") + " " };
        tell(&format!("{prefix}{message}"));
    }
    if let Some(hint) = &failure.hint {
        tell(&format!("\nhint: {hint}"));
    }
    failure.exit as u8
}

fn paint() -> Paint {
    Paint { has_color: HAS_TALK_COLOR.load(Ordering::Relaxed) }
}
