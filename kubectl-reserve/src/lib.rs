//! `kubectl reserve`: `main` parses the arguments, runs one command and returns the exit code. It is a library, so that tests can
//! call the pure parts (`explain`, `flow`) without a cluster.
#![forbid(unsafe_code)]

mod amount;
mod api;
mod capacity;
mod changes;
mod cli;
mod clock;
mod cluster_data;
mod commands;
mod completion;
mod connect;
mod demo;
mod error;
mod events;
pub mod explain;
mod fit;
pub mod flow;
mod manifest;
mod manifests;
mod names;
mod node_patch;
mod objects;
mod pending;
mod platform;
mod print;
mod reader;
mod render;
mod replicas;
mod reservations;
mod rights;
mod selector;
mod ui;
mod whoami;

use cli::{Cli, Invocation};
use error::{Exit, Failure};
use std::process::ExitCode;
pub use ui::embedded::HostProgram;
use ui::printer;

/// Runs the program.
pub fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    // Completion is asked for by the link that kubectl runs, or by a shell's own script.
    if words.first().is_some_and(|program| completion::is_completion_program(program)) {
        return printer::finish(printer::out(&completion::answer(words.into_iter().skip(1))));
    }
    if words.get(1).is_some_and(|word| word == completion::script::VERB) {
        return printer::finish(printer::out(&completion::answer(words.into_iter().skip(2))));
    }
    let invocation = Invocation::new(words);
    let cli = match invocation.parse() {
        Ok(cli) => cli,
        // clap reports `--help` as an error, too.
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1));
        }
    };
    let outcome = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(run(cli, &invocation)),
        Err(error) => Err(Failure::new(format!("start: {error}"))),
    };
    printer::finish(outcome)
}

/// The definition of all verbs and flags, for the manual pages.
#[doc(hidden)]
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// The scripts for shells, under the names that shells look for.
#[doc(hidden)]
pub fn completion_scripts() -> [(&'static str, &'static str); 4] {
    use completion::script::{BASH, FISH, POWERSHELL, ZSH};
    [
        ("kubectl-reserve.bash", BASH),
        ("_kubectl-reserve", ZSH),
        ("kubectl-reserve.fish", FISH),
        ("kubectl-reserve.ps1", POWERSHELL),
    ]
}

/// Prints a document as `-o` says, for tests that compare it with kubectl's output.
#[doc(hidden)]
pub fn formatted(
    document: &serde_json::Value,
    output: &str,
    sort_by: Option<&str>,
) -> Result<String, String> {
    let flags =
        cli::Print { output: output.parse()?, sort_by: sort_by.map(String::from), ..cli::Print::default() };
    let text = print::text(&flags, &print::Document(document));
    text.map_err(|failure| failure.message.unwrap_or_default())
}

/// Runs what would be typed after `kubectl reserve` in this process, on a cluster that `client` reaches. Returns the exit
/// code. What it prints, and Ctrl-C, is up to `host`.
#[doc(hidden)]
pub async fn run_inside(words: &[&str], client: kube::Client, host: &HostProgram) -> u8 {
    let inside = async {
        let words = std::iter::once(&"kubectl-reserve").chain(words).map(Into::into).collect();
        let invocation = Invocation::new(words);
        let cli = match invocation.parse() {
            Ok(cli) => cli,
            Err(error) => return printer::finish_with_code(Err(Failure::usage(error))),
        };
        printer::finish_with_code(Box::pin(commands::run_on(cli, client)).await)
    };
    host.run(inside).await
}

async fn run(cli: Cli, invocation: &Invocation) -> Result<(), Failure> {
    tokio::select! {
        biased;
        outcome = Box::pin(commands::run(cli, invocation)) => outcome,
        () = ui::signal::unhandled_signal() => Err(Failure::silent(Exit::Interrupted)),
    }
}
