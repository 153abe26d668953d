//! What somebody who pressed Tab can mean, as a function of the words so far and of the definitions.

use crate::cli::{Cli, Connection, Invocation};
use clap::{Arg, Command, FromArgMatches, ValueHint};

/// Something that only the kubeconfig or the cluster knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Contexts,
    Clusters,
    Users,
    Namespaces,
    Nodes,
    Reservations,
    /// Pods that run, for whoever wants to recreate one.
    RunningPods,
    /// All pods, those that wait first, for whoever wants to know why.
    PendingPods,
    /// Workloads of the type that was typed.
    Workloads,
    /// The shell completes file names.
    Files,
}

/// One question.
#[derive(Debug)]
pub(super) struct Asked {
    /// How the word begins that is to be completed.
    pub(super) begun: String,
    /// Candidates that are always the same, perhaps with a description after a tab.
    pub(super) fixed: Vec<String>,
    pub(super) wanted: Vec<Wanted>,
    /// What was typed about the connection.
    pub(super) connection: Connection,
}

/// The types that can stand before a slash.
const TYPES: [&str; 7] =
    ["pod/", "deployment/", "statefulset/", "daemonset/", "replicaset/", "job/", "cronjob/"];

/// The words, gone through from the left.
struct Scan<'c> {
    root: &'c Command,
    /// The command that the words have led to.
    command: &'c Command,
    /// A flag that still wants its value.
    open: Option<&'c Arg>,
    /// The words that are about every command.
    globals: Vec<String>,
}

impl Asked {
    pub(super) fn new(words: &[String]) -> Self {
        let root = Invocation::new(Vec::new()).command();
        let (last, before) =
            words.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
        let mut scan = Scan { root: &root, command: &root, open: None, globals: Vec::new() };
        for word in before {
            scan.pass(word);
        }
        // The flag whose value is asked for has none yet.
        if scan.open.is_some_and(Arg::is_global_set) {
            scan.globals.pop();
        }
        let mut asked = Self {
            begun: last.to_owned(),
            fixed: Vec::new(),
            wanted: Vec::new(),
            connection: connection(&root, &scan.globals),
        };
        match (scan.open, last.split_once('=')) {
            (Some(flag), _) => asked.value_of(flag),
            (None, Some((name, begun))) if name.starts_with("--") => {
                if let Some(flag) = scan.flag(name) {
                    asked.begun = begun.to_owned();
                    asked.value_of(flag);
                }
            }
            (None, _) if last.starts_with('-') => asked.fixed = scan.flags(),
            (None, _) => asked.argument_of(scan.command),
        }
        asked
    }

    /// Whether somebody has to be asked.
    pub(super) fn is_live(&self) -> bool {
        self.wanted.iter().any(|wanted| *wanted != Wanted::Files)
    }

    fn value_of(&mut self, flag: &Arg) {
        self.fixed =
            flag.get_possible_values().iter().map(|value| line(value.get_name(), value.get_help())).collect();
        let wanted = match flag.get_id().as_str() {
            "context" => Some(Wanted::Contexts),
            "cluster" => Some(Wanted::Clusters),
            "user" => Some(Wanted::Users),
            "namespace" | "daemon_namespace" => Some(Wanted::Namespaces),
            "node" | "to" => Some(Wanted::Nodes),
            "pod" => Some(Wanted::RunningPods),
            _ => match flag.get_value_hint() {
                ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath => Some(Wanted::Files),
                _ => None,
            },
        };
        self.wanted.extend(wanted);
        if flag.get_id() == "output" {
            let forms = ["json", "yaml", "name", "wide", "jsonpath=", "custom-columns="];
            self.fixed = forms.map(String::from).to_vec();
        }
    }

    fn argument_of(&mut self, command: &Command) {
        self.fixed = command
            .get_subcommands()
            .filter(|verb| !verb.is_hide_set())
            .map(|verb| line(verb.get_name(), verb.get_about()))
            .collect();
        let possible = command.get_positionals().flat_map(Arg::get_possible_values);
        self.fixed.extend(possible.map(|value| line(value.get_name(), value.get_help())));
        let has_type = self.begun.contains('/');
        match command.get_name() {
            "nodes" | "drain" => self.wanted.push(Wanted::Nodes),
            "list" | "describe" | "release" | "extend" => self.wanted.push(Wanted::Reservations),
            "pod" | "explain" | "restart" if has_type => self.wanted.push(Wanted::Workloads),
            "pod" => self.pods_or_types(Wanted::RunningPods),
            "explain" => self.pods_or_types(Wanted::PendingPods),
            "restart" => self.fixed.extend(TYPES.iter().skip(1).map(ToString::to_string)),
            _ => {}
        }
    }

    fn pods_or_types(&mut self, pods: Wanted) {
        self.wanted.push(pods);
        // An empty word wants to see pods, not a catalogue.
        if !self.begun.is_empty() {
            self.fixed.extend(TYPES.iter().map(ToString::to_string));
        }
    }
}

impl<'c> Scan<'c> {
    /// Goes past one word.
    fn pass(&mut self, word: &str) {
        if let Some(flag) = self.open.take() {
            self.keep(flag, word);
            return;
        }
        if !word.starts_with('-') || word == "-" {
            if let Some(verb) = self.command.find_subcommand(word) {
                self.command = verb;
            }
            return;
        }
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        let Some(flag) = self.flag(name) else { return };
        self.keep(flag, word);
        // `--flag=value` and `-nvalue` have theirs; so has a flag that only may have one.
        let has_value = name != word || (!name.starts_with("--") && name.chars().count() > 2);
        let wants_one = flag.get_action().takes_values() && !flag.is_require_equals_set();
        self.open = (wants_one && !has_value).then_some(flag);
    }

    fn keep(&mut self, flag: &Arg, word: &str) {
        if flag.is_global_set() {
            self.globals.push(word.to_owned());
        }
    }

    /// The flag of that name; `-nvalue` is `-n`.
    fn flag(&self, name: &str) -> Option<&'c Arg> {
        let is_meant = |arg: &&Arg| match name.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            None => arg.get_short() == name.chars().nth(1),
        };
        self.arguments().find(is_meant)
    }

    /// Every flag that can be typed here.
    fn flags(&self) -> Vec<String> {
        let long = |arg: &Arg| arg.get_long().map(|long| line(&format!("--{long}"), arg.get_help()));
        let mut flags: Vec<String> = self.arguments().filter_map(long).collect();
        flags.sort();
        flags.dedup();
        flags
    }

    fn arguments(&self) -> impl Iterator<Item = &'c Arg> + use<'c> {
        let own = self.command.get_arguments();
        own.chain(self.root.get_arguments().filter(|arg| arg.is_global_set()))
    }
}

/// The connection flags among `globals`; the default ones if they make no sense.
fn connection(root: &Command, globals: &[String]) -> Connection {
    let words = std::iter::once("kubectl-reserve").chain(globals.iter().map(String::as_str));
    let matches = root.clone().try_get_matches_from(words).ok();
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches).ok());
    cli.map(|cli| cli.connection)
        .unwrap_or_else(|| Connection { request_timeout: "0".to_owned(), ..Connection::default() })
}

fn line(value: &str, help: Option<&impl ToString>) -> String {
    let help = help.map(ToString::to_string).unwrap_or_default();
    match help.lines().next() {
        Some(first) if !first.is_empty() => format!("{value}\t{first}"),
        _ => value.to_owned(),
    }
}
