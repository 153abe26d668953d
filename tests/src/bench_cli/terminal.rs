//! Measures how soon a program prints something on a terminal ([`first_words`]).

use crate::bench_cluster::usage::usage;
use anyhow::{Context as _, Result, ensure};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::io::Read as _;
use std::time::Duration;

const SIZE: PtySize = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };

/// The first text that a program prints on a terminal, and the processor time that it had used by then. Then the program is killed.
///
/// # Errors
/// When the program cannot be run, or prints nothing.
pub fn first_words(command: CommandBuilder) -> Result<(String, Duration)> {
    let pair = native_pty_system().openpty(SIZE)?;
    let mut screen = pair.master.try_clone_reader()?;
    let mut child = pair.slave.spawn_command(command)?;
    // While our copy of the slave is open, reading from the master never reports the end.
    drop(pair.slave);
    let pid = child.process_id().context("a program without a number")?;
    let (mut words, mut bytes) = (String::new(), [0; 256]);
    // Escape sequences for colours and the cursor do not count as text.
    while !words.contains(char::is_alphabetic) {
        let count = screen.read(&mut bytes).context("it said nothing")?;
        ensure!(count > 0, "it said nothing");
        words += &without_escapes(&String::from_utf8_lossy(&bytes[..count]));
    }
    let cpu = usage(pid)?.cpu;
    child.kill().context("end the program")?;
    child.wait().context("wait for the program")?;
    Ok((words.trim().to_owned(), cpu))
}

fn without_escapes(text: &str) -> String {
    let mut rest = text.chars();
    let mut plain = String::new();
    while let Some(next) = rest.next() {
        if next == '\u{1b}' {
            rest.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(next);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{first_words, without_escapes};
    use portable_pty::CommandBuilder;

    #[test]
    fn the_first_words_are_those_that_a_person_reads() {
        assert_eq!(without_escapes("\u{1b}[?25l\u{1b}[2Kreading\u{1b}[0m"), "reading");
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", "printf '\\033[2K'; test -t 2 && echo one >&2; sleep 60; echo two"]);
        assert_eq!(first_words(command).unwrap().0, "one");
    }

    #[test]
    fn one_that_says_nothing_fails() {
        assert!(first_words(CommandBuilder::new("true")).is_err());
    }
}
