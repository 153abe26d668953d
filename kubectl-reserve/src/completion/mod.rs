//! Shell completion by kubectl's protocol: kubectl runs `kubectl_complete-reserve WORDS…` and reads one candidate per line, and a
//! directive on the last line. Verbs and flags come from the definitions (`request`), names from the kubeconfig and the cluster
//! (`live`). The answer takes less than a second, and is empty if anything fails: completion never prints an error.

mod live;
mod request;
pub(crate) mod script;
#[cfg(test)]
mod tests;

use request::{CandidateKind, CompletionRequest};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

/// The program that kubectl runs to complete our plugin.
pub(crate) const NAME: &str = "kubectl_complete-reserve";

/// Cobra's directives: bits that are added.
const NO_SPACE: u8 = 2;
const NO_FILES: u8 = 4;

/// How long the cluster may take.
const TIMEOUT: Duration = Duration::from_millis(900);

/// The maximum number of candidates.
const CANDIDATES_MAX: usize = 500;

/// Whether the program was started for completion: it is called `kubectl_complete-…`, whatever the plugin is called.
pub(crate) fn is_completion_program(program: &OsStr) -> bool {
    let stem = Path::new(program).file_stem().and_then(OsStr::to_str);
    stem.is_some_and(|stem| stem.starts_with("kubectl_complete-"))
}

/// The output that completes the last of `words`, which may be empty.
pub(crate) fn answer(words: impl Iterator<Item = OsString>) -> String {
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let request = CompletionRequest::new(&words);
    let live = if request.is_live() { ask(&request) } else { Vec::new() };
    text(&request, live)
}

/// The candidates from the kubeconfig and the cluster; none if anything fails.
fn ask(request: &CompletionRequest) -> Vec<String> {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Vec::new();
    };
    let found = runtime.block_on(async { tokio::time::timeout(TIMEOUT, live::find(request)).await });
    // A credential plugin that still runs must not delay the exit.
    runtime.shutdown_background();
    found.ok().and_then(Result::ok).unwrap_or_default()
}

/// The candidates with the prefix of the word, and the directive.
fn text(request: &CompletionRequest, live: Vec<String>) -> String {
    let mut lines: Vec<String> = request.fixed.iter().cloned().chain(live).collect();
    lines.retain(|line| line.starts_with(&request.prefix));
    lines.truncate(CANDIDATES_MAX);
    let is_open = |line: &String| line.split('\t').next().is_some_and(|value| value.ends_with(['/', '=']));
    let mut directive = if request.kinds.contains(&CandidateKind::Files) { 0 } else { NO_FILES };
    if !lines.is_empty() && lines.iter().all(is_open) {
        directive += NO_SPACE;
    }
    lines.push(format!(":{directive}"));
    lines.join("\n") + "\n"
}
