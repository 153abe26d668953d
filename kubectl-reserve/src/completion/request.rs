//! Which candidates complete the last word: a function of the words so far and of the definitions of verbs and flags. No client.

use crate::cli::{Cli, Connection, Invocation};
use clap::{Arg, Command, FromArgMatches, ValueHint};

/// Candidates that come from the kubeconfig, the cluster or the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CandidateKind {
    Contexts,
    Clusters,
    Users,
    Namespaces,
    Nodes,
    Reservations,
    /// Running pods, for commands that recreate pods.
    RunningPods,
    /// All pods, Pending ones first, for `explain`.
    PendingPods,
    /// Workloads of the type before the slash.
    Workloads,
    /// File names, which the shell completes.
    Files,
}

#[derive(Debug)]
pub(super) struct CompletionRequest {
    /// The beginning of the word.
    pub(super) prefix: String,
    /// Candidates from the definitions, some with a description after a tab.
    pub(super) fixed: Vec<String>,
    pub(super) kinds: Vec<CandidateKind>,
    /// The connection flags among the words.
    pub(super) connection: Connection,
}

/// The types that are offered before a slash.
const TYPES: [&str; 7] =
    ["pod/", "deployment/", "statefulset/", "daemonset/", "replicaset/", "job/", "cronjob/"];

/// The state of reading the words from left to right.
struct Scan<'c> {
    root: &'c Command,
    /// The verb that was found so far.
    command: &'c Command,
    /// The flag whose value is the next word.
    open: Option<&'c Arg>,
    /// The words that belong to global flags.
    globals: Vec<String>,
}

impl CompletionRequest {
    pub(super) fn new(words: &[String]) -> Self {
        let root = Invocation::new(Vec::new()).command();
        let (last, before) =
            words.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
        let mut scan = Scan { root: &root, command: &root, open: None, globals: Vec::new() };
        for word in before {
            scan.read(word);
        }
        // The flag whose value is to be completed has no value yet, so it is not parsed.
        if scan.open.is_some_and(Arg::is_global_set) {
            scan.globals.pop();
        }
        let mut request = Self {
            prefix: last.to_owned(),
            fixed: Vec::new(),
            kinds: Vec::new(),
            connection: connection(&root, &scan.globals),
        };
        match (scan.open, last.split_once('=')) {
            (Some(flag), _) => request.value_of(flag),
            (None, Some((name, prefix))) if name.starts_with("--") => {
                if let Some(flag) = scan.flag(name) {
                    request.prefix = prefix.to_owned();
                    request.value_of(flag);
                }
            }
            (None, _) if last.starts_with('-') => request.fixed = scan.flags(),
            (None, _) => request.argument_of(scan.command),
        }
        request
    }

    /// Whether the kubeconfig or the cluster must be read.
    pub(super) fn is_live(&self) -> bool {
        self.kinds.iter().any(|kind| *kind != CandidateKind::Files)
    }

    fn value_of(&mut self, flag: &Arg) {
        self.fixed =
            flag.get_possible_values().iter().map(|value| line(value.get_name(), value.get_help())).collect();
        let kind = match flag.get_id().as_str() {
            "context" => Some(CandidateKind::Contexts),
            "cluster" => Some(CandidateKind::Clusters),
            "user" => Some(CandidateKind::Users),
            "namespace" | "daemon_namespace" => Some(CandidateKind::Namespaces),
            "node" | "to" => Some(CandidateKind::Nodes),
            "pod" => Some(CandidateKind::RunningPods),
            _ => match flag.get_value_hint() {
                ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath => Some(CandidateKind::Files),
                _ => None,
            },
        };
        self.kinds.extend(kind);
        if flag.get_id() == "output" {
            let forms = ["json", "yaml", "name", "wide", "jsonpath=", "custom-columns=", "html", "markdown"];
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
        let has_type = self.prefix.contains('/');
        match command.get_name() {
            "nodes" | "drain" => self.kinds.push(CandidateKind::Nodes),
            "list" | "describe" | "release" | "extend" => self.kinds.push(CandidateKind::Reservations),
            "pod" | "explain" | "restart" if has_type => self.kinds.push(CandidateKind::Workloads),
            "pod" => self.pods_or_types(CandidateKind::RunningPods),
            "explain" => self.pods_or_types(CandidateKind::PendingPods),
            "restart" => self.fixed.extend(TYPES.iter().skip(1).map(ToString::to_string)),
            _ => {}
        }
    }

    fn pods_or_types(&mut self, pods: CandidateKind) {
        self.kinds.push(pods);
        // For an empty word only pods are offered, not the types.
        if !self.prefix.is_empty() {
            self.fixed.extend(TYPES.iter().map(ToString::to_string));
        }
    }
}

impl<'c> Scan<'c> {
    fn read(&mut self, word: &str) {
        if let Some(flag) = self.open.take() {
            self.note_global(flag, word);
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
        self.note_global(flag, word);
        // `--flag=value` and `-nvalue` contain the value; a flag with an optional value needs `=`.
        let has_value = name != word || (!name.starts_with("--") && name.chars().count() > 2);
        let wants_one = flag.get_action().takes_values() && !flag.is_require_equals_set();
        self.open = (wants_one && !has_value).then_some(flag);
    }

    fn note_global(&mut self, flag: &Arg, word: &str) {
        if flag.is_global_set() {
            self.globals.push(word.to_owned());
        }
    }

    /// The flag called `name`; `-nvalue` is `-n`.
    fn flag(&self, name: &str) -> Option<&'c Arg> {
        let is_meant = |arg: &&Arg| match name.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            None => arg.get_short() == name.chars().nth(1),
        };
        self.arguments().find(is_meant)
    }

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

/// The connection flags among `globals`; the defaults if they cannot be parsed.
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
