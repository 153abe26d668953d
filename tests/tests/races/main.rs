//! Races on a real control plane: strangers against replacements, leaders that die against pods that are deleted, and
//! comparisons against changes.
//!
//! `make races RACES=1000` and `make kills KILLS=50` run more of them than the test command does, and print what they measured.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "the figures are what `make races` and `make kills` show")]

mod compare;
mod kills;
mod strangers;

/// The number that an environment variable says, or else `default`.
#[expect(clippy::disallowed_methods, reason = "a test is its own outermost layer")]
fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
