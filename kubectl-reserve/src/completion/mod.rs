//! Shell completion in kubectl's way: it runs `kubectl_complete-reserve WORDS…` and reads one candidate a line, and
//! at last a directive. Verbs and flags come from the definitions, names from the cluster, within a second: whoever
//! presses Tab wants an answer or none, never an error.

mod asked;
mod live;
pub(crate) mod script;
#[cfg(test)]
mod tests;

use asked::{Asked, Wanted};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

/// What kubectl calls the program that completes ours.
pub(crate) const NAME: &str = "kubectl_complete-reserve";

/// Cobra's directives, which can be added.
const NO_SPACE: u8 = 2;
const NO_FILES: u8 = 4;

/// How long the cluster may take.
const PATIENCE: Duration = Duration::from_millis(900);

/// The most candidates that anybody reads.
const CANDIDATES_MAX: usize = 500;

/// Whether the program was called for completion, under whatever name the plugin has.
pub(crate) fn is_asked_by(program: &OsStr) -> bool {
    let stem = Path::new(program).file_stem().and_then(OsStr::to_str);
    stem.is_some_and(|stem| stem.starts_with("kubectl_complete-"))
}

/// What to print for the last of `words`, which may be empty.
pub(crate) fn answer(words: impl Iterator<Item = OsString>) -> String {
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let asked = Asked::new(&words);
    let live = if asked.is_live() { ask(&asked) } else { Vec::new() };
    text(&asked, live)
}

/// Asks the kubeconfig and the cluster. Whatever goes wrong, there is an answer.
fn ask(asked: &Asked) -> Vec<String> {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Vec::new();
    };
    let found = runtime.block_on(async { tokio::time::timeout(PATIENCE, live::find(asked)).await });
    // A credential plugin that still runs must not keep us.
    runtime.shutdown_background();
    found.ok().and_then(Result::ok).unwrap_or_default()
}

/// The candidates that begin as the word does, and the directive.
fn text(asked: &Asked, live: Vec<String>) -> String {
    let mut lines: Vec<String> = asked.fixed.iter().cloned().chain(live).collect();
    lines.retain(|line| line.starts_with(&asked.begun));
    lines.truncate(CANDIDATES_MAX);
    let is_open = |line: &String| line.split('\t').next().is_some_and(|value| value.ends_with(['/', '=']));
    let mut directive = if asked.wanted.contains(&Wanted::Files) { 0 } else { NO_FILES };
    if !lines.is_empty() && lines.iter().all(is_open) {
        directive += NO_SPACE;
    }
    lines.push(format!(":{directive}"));
    lines.join("\n") + "\n"
}
