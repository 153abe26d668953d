//! `kubectl reserve completion`: prints the scripts for shells, and installs the link that kubectl runs.

use crate::cli::{Completion, CompletionTarget, Invocation};
use crate::completion::{NAME, script};
use crate::error::Failure;
use crate::platform::{link, link_name};
use crate::ui::printer;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &Completion, invocation: &Invocation) -> Result<(), Failure> {
    match args.target {
        CompletionTarget::Bash => printer::out(script::BASH),
        CompletionTarget::Zsh => printer::out(script::ZSH),
        CompletionTarget::Fish => printer::out(script::FISH),
        CompletionTarget::Powershell => printer::out(script::POWERSHELL),
        CompletionTarget::Install => install(&program(invocation)?),
    }
}

/// The path of the plugin as kubectl found it, without following links: krew keeps the program in a folder that is not on the PATH.
fn program(invocation: &Invocation) -> Result<PathBuf, Failure> {
    let called = invocation.program().map(PathBuf::from).unwrap_or_default();
    if called.components().count() > 1 {
        return std::path::absolute(&called).map_err(|error| failed(&called, &error));
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).map(|dir| dir.join(&called)).find(|path| path.is_file());
    found.map_or_else(|| std::env::current_exe().map_err(|error| failed(&called, &error)), Ok)
}

fn install(program: &Path) -> Result<(), Failure> {
    let dir = program.parent().unwrap_or(Path::new("."));
    let stem = program.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let name = stem
        .strip_prefix("kubectl-")
        .map_or_else(|| NAME.to_owned(), |name| format!("kubectl_complete-{name}"));
    let at = dir.join(link_name(&name));
    if at.symlink_metadata().is_ok() {
        let is_ours = match (fs::canonicalize(&at), fs::canonicalize(program)) {
            (Ok(there), Ok(here)) => there == here,
            _ => false,
        };
        if is_ours {
            return printer::out(&format!("{} is there already\n", at.display()));
        }
        return Err(Failure::new(format!("{} exists and is something else", at.display()))
            .hint("remove it, and run this again"));
    }
    link(program, &at).map_err(|error| failed(&at, &error))?;
    printer::out(&format!("{} created\n", at.display()))?;
    printer::say("kubectl completes this plugin from now on, wherever its own completion is loaded.");
    Ok(())
}

fn failed(at: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{}: {error}", at.display()))
}
