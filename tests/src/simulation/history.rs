//! What happened in one simulation, as lines: all of it as a hash, the last of it as text.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::time::Duration;

/// How much of a history is shown when nobody asks for all of it.
pub const SHORT: usize = 40;

/// What has happened so far.
#[derive(Clone, Debug)]
pub struct History {
    hash: u64,
    lines: VecDeque<String>,
    kept: usize,
}

/// The offset and the prime of FNV-1a: small, and the same everywhere.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

impl History {
    /// One that keeps the last `kept` lines.
    pub fn new(kept: usize) -> Self {
        Self { hash: OFFSET, lines: VecDeque::new(), kept }
    }

    /// Writes one line: when, in virtual time, and what.
    pub fn note(&mut self, at: Duration, what: fmt::Arguments<'_>) {
        let mut line = if self.lines.len() >= self.kept {
            self.lines.pop_front().unwrap_or_default()
        } else {
            String::new()
        };
        line.clear();
        // Writing to a string cannot fail.
        let _ = write!(line, "{:>5}.{:03} {what}", at.as_secs(), at.subsec_millis());
        for byte in line.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(PRIME);
        }
        if self.kept > 0 {
            self.lines.push_back(line);
        }
    }

    /// Keeps only as many lines as were to be kept: those around the first with `mark` in it, else the last. For whoever
    /// kept them all because nobody knew beforehand which would matter.
    pub fn keep_around(&mut self, mark: Option<&str>, kept: usize) {
        let found = mark.and_then(|mark| self.lines.iter().position(|line| line.contains(mark)));
        let end = found.map_or(self.lines.len(), |at| self.lines.len().min(at + kept / 4));
        self.lines.truncate(end);
        self.lines.drain(..end.saturating_sub(kept));
        self.kept = kept;
    }

    /// How many lines are kept.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// What all of it comes to.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The lines that were kept.
    pub fn into_lines(self) -> Vec<String> {
        self.lines.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_of_everything_and_the_text_of_the_end() {
        let mut short = History::new(2);
        let mut long = History::new(100);
        for history in [&mut short, &mut long] {
            for second in 0..5 {
                history.note(Duration::from_secs(second), format_args!("tick"));
            }
        }
        assert_eq!(short.hash(), long.hash());
        assert_eq!(short.into_lines(), ["    3.000 tick", "    4.000 tick"]);
        let mut other = History::new(0);
        other.note(Duration::ZERO, format_args!("tock"));
        assert_ne!(other.hash(), long.hash());
        assert_eq!(long.into_lines().len(), 5);
    }
}
