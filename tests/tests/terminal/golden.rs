//! Golden files: transcripts, with what differs from run to run covered.

use reserve_tests::pty::COLUMNS;

/// What differs from run to run, or with what others change, and what stands for it.
const ALWAYS: [(&str, &str); 4] = [
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"/\S*/kubectl-reserve-terminal-\w+", "HOME"),
    (r"\b[0-9a-f]{12}\b", "SEAT"),
    (r"configmap/reserve-daemon-\w{10}\b", "configmap/reserve-daemon-HASH"),
];

/// And where time passes and several things happen at once. The last: columns follow the widest cell, and times are
/// aligned to the right.
const TIMES: [(&str, &str); 6] = [
    (r"\bweb-[a-z0-9]{8,10}-[a-z0-9]{5}\b", "web-HASH-POD"),
    (r"(node-\d +)\S+( +(Ready|NotReady|Terminating)\b)", "${1}AGE$2"),
    (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"\b\d\d:\d\d(\s+)UTC", "HH:MM${1}UTC"),
    (r"\b(\d+m)?\d+(\.\d+)?s\b", "SPAN"),
    (r"\b(AGE|POD|ok) +", "$1  "),
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
    let covered = if times == Times::Shown { &[][..] } else { &TIMES[..] };
    for (pattern, stand_in) in ALWAYS.iter().chain(covered) {
        settings.add_filter(pattern, *stand_in);
    }
    settings.add_filter(&env!("CARGO_PKG_VERSION").replace('.', r"\."), "0.0.0");
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, transcript));
}

/// The lines that are wider than a terminal and need not be: they are no commands, which are there to be copied, and no
/// long words.
pub(crate) fn wide(text: &str) -> Vec<&str> {
    let is_wide = |text: &str| text.chars().count() > usize::from(COLUMNS);
    let is_command = |line: &str| line.trim_start_matches(['$', ' ']).starts_with("kubectl ");
    let is_one_word = |line: &str| !line.trim().contains(' ') || line.split(' ').any(is_wide);
    text.lines().filter(|line| is_wide(line) && !is_command(line) && !is_one_word(line)).collect()
}
