//! Flags of kube-scheduler that are taken so that its command line works, and do nothing.

use super::value::switch;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, FromArgMatches};

/// What follows the name.
#[derive(Clone, Copy)]
enum Takes {
    /// Nothing, or `=true`.
    Switch,
    /// Some text.
    Text,
}

use Takes::{Switch, Text};

/// A flag, what follows it, and what whoever sets it had better know: nothing where all is as without it.
const FLAGS: [(&str, Takes, &str); 20] = [
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

/// The ignored_flags flags that were given.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Moot {
    given: Vec<(&'static str, &'static str)>,
}

impl Moot {
    /// Those that change nothing.
    pub fn idle(&self) -> impl Iterator<Item = &'static str> {
        self.given.iter().filter(|(_, instead)| instead.is_empty()).map(|(name, _)| *name)
    }

    /// Those that ask for something that will not happen, each with what happens instead.
    pub fn unmet(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.given.iter().filter(|(_, instead)| !instead.is_empty()).copied()
    }
}

impl FromArgMatches for Moot {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let is_given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
        // A switch that is off asks for nothing.
        let is_off = |name: &str| matches.get_many(name).and_then(Iterator::last) == Some(&false);
        let mut given: Vec<(&'static str, &'static str)> = Vec::new();
        for (name, takes, instead) in FLAGS.iter().filter(|(name, _, _)| is_given(name)) {
            let instead = if matches!(takes, Switch) && is_off(name) { "" } else { *instead };
            given.push((*name, instead));
        }
        Ok(Self { given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Moot {
    fn augment_args(command: Command) -> Command {
        FLAGS.iter().fold(command, |command, (name, takes, _)| {
            let flag = Arg::new(*name).long(*name).hide(true).action(ArgAction::Append);
            command.arg(match takes {
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
