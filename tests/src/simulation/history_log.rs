//! The log of one simulation: a hash of all lines, and the text of the last ones.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::time::Duration;

/// How many lines are shown by default.
pub const SHORT: usize = 40;

/// The lines of a simulation.
#[derive(Clone, Debug)]
pub struct HistoryLog {
    hash: u64,
    lines: VecDeque<String>,
    max_lines: usize,
}

/// The offset and the prime of FNV-1a, a hash that is the same on every machine.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

impl HistoryLog {
    /// An empty log that keeps the text of the last `max_lines` lines.
    pub fn new(max_lines: usize) -> Self {
        Self { hash: OFFSET, lines: VecDeque::new(), max_lines }
    }

    /// Adds a line: the virtual time, and what happened.
    pub fn note(&mut self, at: Duration, what: fmt::Arguments<'_>) {
        let mut line = if self.lines.len() >= self.max_lines {
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
        if self.max_lines > 0 {
            self.lines.push_back(line);
        }
    }

    /// Keeps only `max_lines` lines: those around the first line that contains `mark`, else the last ones. For logs that kept all
    /// lines until it was known which are of interest.
    pub fn keep_around(&mut self, mark: Option<&str>, max_lines: usize) {
        let found = mark.and_then(|mark| self.lines.iter().position(|line| line.contains(mark)));
        let end = found.map_or(self.lines.len(), |at| self.lines.len().min(at + max_lines / 4));
        self.lines.truncate(end);
        self.lines.drain(..end.saturating_sub(max_lines));
        self.max_lines = max_lines;
    }

    /// The most lines that are kept.
    pub fn max_lines(&self) -> usize {
        self.max_lines
    }

    /// The hash of all lines.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The lines that are kept.
    pub fn into_lines(self) -> Vec<String> {
        self.lines.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_of_everything_and_the_text_of_the_end() {
        let mut short = HistoryLog::new(2);
        let mut long = HistoryLog::new(100);
        for history in [&mut short, &mut long] {
            for second in 0..5 {
                history.note(Duration::from_secs(second), format_args!("tick"));
            }
        }
        assert_eq!(short.hash(), long.hash());
        assert_eq!(short.into_lines(), ["    3.000 tick", "    4.000 tick"]);
        let mut other = HistoryLog::new(0);
        other.note(Duration::ZERO, format_args!("tock"));
        assert_ne!(other.hash(), long.hash());
        assert_eq!(long.into_lines().len(), 5);
    }
}
