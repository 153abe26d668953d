//! The only mouth: data to stdout, talk to stderr.

use super::progress::suspended;
use super::{Paint, Tone, Ui};
use crate::error::Failure;
use std::io::{ErrorKind, Write, stderr, stdout};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether only data and errors are wanted.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Whether talk may have colours.
static HAS_TALK_COLOR: AtomicBool = AtomicBool::new(false);

/// Whether talk is part of what was asked for.
static IS_TALK_DATA: AtomicBool = AtomicBool::new(false);

/// From now on talk goes where data goes: in a show both are one thing, and must stay in order in a pipe too.
pub(crate) fn talk_is_data() {
    IS_TALK_DATA.store(true, Ordering::Relaxed);
}

/// From now on talks as `ui` says. Before that: plainly.
pub(crate) fn talk_as(ui: &Ui) {
    IS_QUIET.store(ui.is_quiet, Ordering::Relaxed);
    HAS_TALK_COLOR.store(ui.has_talk_color, Ordering::Relaxed);
}

/// Prints data. Whoever closes the pipe has read enough.
pub(crate) fn out(text: &str) -> Result<(), Failure> {
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
    if IS_QUIET.load(Ordering::Relaxed) {
        return;
    }
    match IS_TALK_DATA.load(Ordering::Relaxed) {
        // If nobody can hear it, the next data says so.
        true => drop(out(&format!("{line}\n"))),
        false => tell(line),
    }
}

/// Prints a warning.
pub(crate) fn warn(text: &str) {
    say(&format!("{} {text}", paint().paint(Tone::Careful, "Warning:")));
}

/// Prints a line to stderr whatever was asked for: errors, and what was asked for with `-v`. If nobody can hear it there
/// is nobody to tell.
pub(crate) fn tell(line: &str) {
    suspended(|| {
        let _ = writeln!(stderr(), "{line}");
    });
}

/// Says what went wrong, if anything, and turns it into the exit code.
pub(crate) fn finish(outcome: Result<(), Failure>) -> ExitCode {
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    if let Some(message) = &failure.message {
        // What the server says stands for itself, as in kubectl.
        let is_own = message.starts_with("Error from server");
        let prefix = if is_own { String::new() } else { paint().paint(Tone::Bad, "error:") + " " };
        tell(&format!("{prefix}{message}"));
    }
    if let Some(hint) = &failure.hint {
        tell(&format!("\nhint: {hint}"));
    }
    ExitCode::from(failure.exit as u8)
}

fn paint() -> Paint {
    Paint { has_color: HAS_TALK_COLOR.load(Ordering::Relaxed) }
}
