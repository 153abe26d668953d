//! The only mouth: data to stdout, talk to stderr.

use super::progress::suspended;
use super::{Paint, Tone, Ui, inside};
use crate::error::Failure;
use crate::render::wrap::fold;
use std::io::{ErrorKind, Write, stderr, stdout};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Whether only data and errors are wanted.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Whether talk may have colours.
static HAS_TALK_COLOR: AtomicBool = AtomicBool::new(false);

/// How wide the terminal is that talk goes to; 0 where it is none, and no line is broken.
static TALK_WIDTH: AtomicUsize = AtomicUsize::new(0);

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
    TALK_WIDTH.store(ui.talk_width().unwrap_or(0), Ordering::Relaxed);
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
    talk(&folded(line));
}

/// Prints lines of talk where talk goes, unless it is not wanted.
fn talk(lines: &str) {
    match IS_TALK_DATA.load(Ordering::Relaxed) {
        _ if IS_QUIET.load(Ordering::Relaxed) => {}
        // If nobody can hear it, the next data says so.
        true => drop(out(&format!("{lines}\n"))),
        false => write(lines),
    }
}

/// The lines of what begins with a word that has a colour.
fn led(word: &str, tone: Tone, text: &str) -> String {
    let lines = folded(&format!("{word} {text}"));
    paint().paint(tone, word) + lines.strip_prefix(word).unwrap_or(&lines)
}

/// Lines that fit the terminal; as they are where there is none.
fn folded(text: &str) -> String {
    match TALK_WIDTH.load(Ordering::Relaxed) {
        0 => text.to_owned(),
        width => fold(text, width),
    }
}

/// Prints a warning.
pub(crate) fn warn(text: &str) {
    talk(&led("Warning:", Tone::Careful, text));
}

/// Prints a line to stderr whatever was asked for: errors, and what was asked for with `-v`. If nobody can hear it there
/// is nobody to tell.
pub(crate) fn tell(line: &str) {
    write(&folded(line));
}

fn write(line: &str) {
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
        match message.starts_with("Error from server") {
            true => tell(message),
            false => write(&led("error:", Tone::Bad, message)),
        }
    }
    if let Some(hint) = &failure.hint {
        tell(&format!("\nhint: {hint}"));
    }
    failure.exit as u8
}

fn paint() -> Paint {
    Paint { has_color: HAS_TALK_COLOR.load(Ordering::Relaxed) }
}
