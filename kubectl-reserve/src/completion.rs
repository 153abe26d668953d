//! Shell completion in kubectl's way: it runs `kubectl_complete-reserve WORDS…` and reads one candidate a line, and
//! at last a directive. Verbs, flags and fixed values come from the definitions; nothing asks the cluster.

use crate::cli::Cli;
use clap::{Arg, Command, CommandFactory};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Cobra's directive for "and no file names".
const NO_FILES: &str = ":4";

/// Whether the program was called for completion.
pub(crate) fn is_asked_by(program: &OsStr) -> bool {
    Path::new(program).file_stem() == Some(OsStr::new("kubectl_complete-reserve"))
}

/// The candidates for the last of `words`, which may be empty.
pub(crate) fn candidates(words: impl Iterator<Item = OsString>) -> String {
    let mut words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let last = words.pop().unwrap_or_default();
    let root = Cli::command();
    let verb = words.iter().find_map(|word| root.find_subcommand(word));
    let mut lines: Vec<String> = match words.last().and_then(|flag| values_of(flag, &root, verb)) {
        Some(values) => values,
        None if last.starts_with('-') => flags(&root, verb),
        None if verb.is_none() => {
            root.get_subcommands().map(|verb| line(verb.get_name(), verb.get_about())).collect()
        }
        None => Vec::new(),
    };
    lines.retain(|line| line.starts_with(&last));
    lines.push(NO_FILES.into());
    lines.join("\n") + "\n"
}

/// The values that the flag before the word can have; none if that is no flag that wants one.
fn values_of(flag: &str, root: &Command, verb: Option<&Command>) -> Option<Vec<String>> {
    let takes = |arg: &&Arg| {
        arg.get_action().takes_values()
            && (arg.get_long().is_some_and(|long| flag == format!("--{long}"))
                || arg.get_short().is_some_and(|short| flag == format!("-{short}")))
    };
    let arg = arguments(root, verb).into_iter().find(takes)?;
    Some(arg.get_possible_values().iter().map(|value| line(value.get_name(), value.get_help())).collect())
}

fn flags(root: &Command, verb: Option<&Command>) -> Vec<String> {
    let long = |arg: &Arg| arg.get_long().map(|long| line(&format!("--{long}"), arg.get_help()));
    let mut flags: Vec<String> = arguments(root, verb).into_iter().filter_map(long).collect();
    flags.sort();
    flags
}

fn arguments<'c>(root: &'c Command, verb: Option<&'c Command>) -> Vec<&'c Arg> {
    root.get_arguments().chain(verb.into_iter().flat_map(Command::get_arguments)).collect()
}

fn line(value: &str, help: Option<&impl ToString>) -> String {
    match help {
        Some(help) => format!("{value}\t{}", help.to_string()),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{candidates, is_asked_by};

    fn complete(words: &[&str]) -> Vec<String> {
        let text = candidates(words.iter().map(Into::into));
        text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn verbs_flags_and_values_are_offered() {
        assert!(complete(&[""]).starts_with(&["list".into(), "explain".into()]));
        assert_eq!(complete(&["l"]), ["list", ":4"]);
        assert_eq!(complete(&["list", "--no-h"]), ["--no-headers", ":4"]);
        assert!(complete(&["explain", "--"]).contains(&"--namespace".to_owned()));
        assert_eq!(complete(&["list", "--color", ""]), ["auto", "always", "never", ":4"]);
        assert_eq!(complete(&["list", "--context", ""]), [":4"]);
        assert_eq!(complete(&[]), complete(&[""]));
    }

    #[test]
    fn only_the_link_asks_for_completion() {
        assert!(is_asked_by("/usr/bin/kubectl_complete-reserve".as_ref()));
        assert!(!is_asked_by("/usr/bin/kubectl-reserve".as_ref()));
    }
}
