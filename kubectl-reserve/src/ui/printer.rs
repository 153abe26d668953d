//! The only module that prints: data to stdout ([`out`]), messages to stderr ([`say`], [`warn()`], [`say_always`]). Whatever is
//! printed goes above the progress bar.

use super::progress::suspend;
use super::{Paint, Tone, Ui, embedded};
use crate::api::{NO_CONNECTION, UNREACHABLE};
use crate::error::Failure;
use crate::render::wrap::fold;
use std::collections::BTreeSet;
use std::io::{ErrorKind, Write, stderr, stdout};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Whether only data and errors are printed.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Whether messages get colours.
static HAS_STDERR_COLOR: AtomicBool = AtomicBool::new(false);

/// The width of the terminal that stderr is. 0: stderr is no terminal, and no line is wrapped.
static STDERR_WIDTH: AtomicUsize = AtomicUsize::new(0);

/// Whether messages go to stdout instead of stderr.
static MESSAGES_TO_STDOUT: AtomicBool = AtomicBool::new(false);

/// The warnings that were printed once and are not printed again.
static WARNED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// From now on messages go to stdout: in the demo data and messages must stay in order in a pipe, too.
pub(crate) fn send_messages_to_stdout() {
    MESSAGES_TO_STDOUT.store(true, Ordering::Relaxed);
}

/// From now on messages are printed as `ui` says. Before this call: no colours, no wrapping, not quiet.
pub(crate) fn configure(ui: &Ui) {
    IS_QUIET.store(ui.is_quiet, Ordering::Relaxed);
    HAS_STDERR_COLOR.store(ui.has_stderr_color, Ordering::Relaxed);
    STDERR_WIDTH.store(ui.stderr_width().unwrap_or(0), Ordering::Relaxed);
}

/// Prints data to stdout. A closed pipe is no error: its reader has read enough.
pub(crate) fn out(text: &str) -> Result<(), Failure> {
    if embedded::write_to_host(text) {
        return Ok(());
    }
    let written = suspend(|| {
        let mut stdout = stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
    });
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::new(format!("write: {error}"))),
        _ => Ok(()),
    }
}

/// Prints a message, unless `--quiet` is set.
pub(crate) fn say(line: &str) {
    message(&folded(line));
}

/// Prints lines that are already wrapped, unless `--quiet` is set.
fn message(lines: &str) {
    match MESSAGES_TO_STDOUT.load(Ordering::Relaxed) {
        _ if IS_QUIET.load(Ordering::Relaxed) => {}
        // If stdout cannot be written to, the next data reports the error.
        true => drop(out(&format!("{lines}\n"))),
        false => write(lines),
    }
}

/// `word` in its colour, then `text`, wrapped.
fn with_colored_word(word: &str, tone: Tone, text: &str) -> String {
    let lines = folded(&format!("{word} {text}"));
    paint().paint(tone, word) + lines.strip_prefix(word).unwrap_or(&lines)
}

/// `text` wrapped to the width of the terminal; unchanged if stderr is no terminal.
fn folded(text: &str) -> String {
    match STDERR_WIDTH.load(Ordering::Relaxed) {
        0 => text.to_owned(),
        width => fold(text, width),
    }
}

/// Prints a warning, unless `--quiet` is set.
pub(crate) fn warn(text: &str) {
    message(&with_colored_word("Warning:", Tone::Careful, text));
}

/// Prints a warning, unless this run has printed the same before.
pub(crate) fn warn_once(text: &str) {
    let is_known = embedded::has_host_text(text).unwrap_or_else(|| {
        let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
        !warned.insert(text.to_owned())
    });
    if !is_known {
        warn(text);
    }
}

/// Prints a line to stderr even with `--quiet`: errors, and the requests that `-v` shows. Errors of stderr itself are ignored:
/// there is nowhere to report them.
pub(crate) fn say_always(line: &str) {
    write(&folded(line));
}

fn write(line: &str) {
    if embedded::write_to_host(&format!("{line}\n")) {
        return;
    }
    suspend(|| {
        let _ = writeln!(stderr(), "{line}");
    });
}

/// Prints the failure, if there is one, and returns the exit code.
pub(crate) fn finish(outcome: Result<(), Failure>) -> ExitCode {
    ExitCode::from(finish_with_code(outcome))
}

/// The same as [`finish`], with the exit code as a number.
pub(crate) fn finish_with_code(outcome: Result<(), Failure>) -> u8 {
    let Err(failure) = outcome else { return 0 };
    if let Some(message) = &failure.message {
        // As in kubectl, messages of or about the API server are printed without the prefix `error:`.
        match ["Error from server", UNREACHABLE, NO_CONNECTION].iter().any(|lead| message.starts_with(lead)) {
            true => say_always(message),
            false => write(&with_colored_word("error:", Tone::Bad, message)),
        }
    }
    if let Some(hint) = &failure.hint {
        say_always(&format!("\nhint: {hint}"));
    }
    failure.exit as u8
}

fn paint() -> Paint {
    Paint { has_color: HAS_STDERR_COLOR.load(Ordering::Relaxed) }
}
