//! Flags of kube-scheduler that the daemon accepts and ignores, so that kube-scheduler's command line works.

use super::value::switch;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, FromArgMatches};

/// The value of a flag.
#[derive(Clone, Copy)]
enum FlagValue {
    /// Nothing, or `=true` or `=false`.
    Switch,
    /// Any text.
    Text,
}

use FlagValue::{Switch, Text};

/// Each flag with its value, and what the daemon does instead of what the flag asks for; empty if there is no difference.
const FLAGS: [(&str, FlagValue, &str); 20] = [
    ("allow-metric-labels", Text, "no label of a metric is left out"),
    ("allow-metric-labels-manifest", Text, "no label of a metric is left out"),
    ("contention-profiling", Switch, "nothing is served under /debug/pprof"),
    ("disable-http2-serving", Switch, ""),
    ("disabled-metrics", Text, "no metric is left out"),
    ("emulated-version", Text, "no other version is emulated"),
    ("http2-max-streams-per-connection", Text, ""),
    ("kube-api-content-type", Text, ""),
    ("log-flush-frequency", Text, ""),
    ("log-json-info-buffer-size", Text, ""),
    ("log-json-split-stream", Switch, "all goes to the standard error"),
    ("log-text-info-buffer-size", Text, ""),
    ("log-text-split-stream", Switch, "all goes to the standard error"),
    ("min-compatibility-version", Text, "no other version is emulated"),
    ("permit-address-sharing", Switch, ""),
    ("profiling", Switch, "nothing is served under /debug/pprof"),
    ("show-hidden-metrics-for-version", Text, ""),
    ("tls-curve-preferences", Text, "the server offers its own key exchanges"),
    ("tls-sni-cert-key", Text, "the server has one certificate for all names"),
    ("vmodule", Text, ""),
];

/// The ignored flags that are on the command line.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct IgnoredFlags {
    given: Vec<(&'static str, &'static str)>,
}

impl IgnoredFlags {
    /// The flags without which everything would be the same.
    pub fn without_effect(&self) -> impl Iterator<Item = &'static str> {
        self.given.iter().filter(|(_, instead)| instead.is_empty()).map(|(name, _)| *name)
    }

    /// The flags that ask for something that the daemon does not do, each with what it does instead.
    pub fn unmet(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.given.iter().filter(|(_, instead)| !instead.is_empty()).copied()
    }
}

impl FromArgMatches for IgnoredFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let is_given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
        // A switch with the value false asks for nothing.
        let is_off = |name: &str| matches.get_many(name).and_then(Iterator::last) == Some(&false);
        let mut given: Vec<(&'static str, &'static str)> = Vec::new();
        for (name, value, instead) in FLAGS.iter().filter(|(name, _, _)| is_given(name)) {
            let instead = if matches!(value, Switch) && is_off(name) { "" } else { *instead };
            given.push((*name, instead));
        }
        Ok(Self { given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for IgnoredFlags {
    fn augment_args(command: Command) -> Command {
        FLAGS.iter().fold(command, |command, (name, value, _)| {
            let flag = Arg::new(*name).long(*name).hide(true).action(ArgAction::Append);
            command.arg(match value {
                Switch => flag
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value("true")
                    .value_parser(switch),
                Text => flag,
            })
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
