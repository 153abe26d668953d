//! Golden files: transcripts, with what differs from run to run covered.

use crate::pty::COLUMNS;

/// What differs from run to run, and what stands for it. Spaces after it are kept: columns follow the widest cell.
const COVERED: [(&str, &str); 4] = [
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"/\S*/kubectl-reserve-terminal-\w+", "HOME"),
    (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"(\d+(\.\d+)?)(ms|s)\b", "SPAN"),
];

/// How much is covered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    /// Time stands still in this cluster, and is shown.
    Shown,
    /// Times and durations are covered.
    Covered,
}

/// Holds a transcript against its golden file.
#[track_caller]
pub(crate) fn golden(name: &str, transcript: &str, times: Times) {
    let mut settings = insta::Settings::clone_current();
    let covered = if times == Times::Shown { &COVERED[..2] } else { &COVERED[..] };
    for (pattern, stand_in) in covered {
        settings.add_filter(pattern, *stand_in);
    }
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, transcript));
}

/// The lines that are wider than a terminal, and need not be: none of their words is.
pub(crate) fn wide(text: &str) -> Vec<&str> {
    let is_wide = |text: &str| text.chars().count() > usize::from(COLUMNS);
    text.lines().filter(|line| is_wide(line) && !line.split(' ').any(is_wide)).collect()
}
