//! The log: its level and its format. The log goes to standard error.

use crate::args::{LogArgs, LogFormat};
use std::io::IsTerminal as _;
use tracing_subscriber::EnvFilter;

/// Starts the log of this process. A program that embeds the daemon sets up its own log instead.
pub fn start(args: &LogArgs) {
    let log =
        tracing_subscriber::fmt().with_env_filter(EnvFilter::new(filter(args))).with_writer(std::io::stderr);
    match args.logging_format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}

/// kube_client logs the whole answer of the API server when it cannot decode it, and an answer may contain secrets. So
/// kube_client is off, and the daemon logs errors itself.
fn filter(args: &LogArgs) -> String {
    format!("{},kube_client=off,hyper_util=warn,rustls=warn,tower=warn", level(args.verbosity))
}

/// Maps a klog verbosity to a log level.
fn level(verbosity: u32) -> &'static str {
    match verbosity {
        0 => "warn",
        1..=3 => "info",
        4..=7 => "debug",
        _ => "trace",
    }
}

#[cfg(test)]
mod tests {
    use super::{filter, level};
    use crate::args::Args;
    use clap::Parser as _;

    #[test]
    fn levels_follow_the_verbosity() {
        assert_eq!([0, 2, 4, 9, 1000].map(level), ["warn", "info", "debug", "trace", "trace"]);
    }

    #[test]
    fn answers_of_the_api_server_are_never_logged() {
        let args = Args::parse_from(["reserve-daemon", "-v=10"]);
        assert!(filter(&args.log).contains("kube_client=off"), "{}", filter(&args.log));
    }
}
