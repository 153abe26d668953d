//! What can be typed, and nothing more: help and completion are made from it.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Keep a pod's place while it is recreated, and find out why pods are Pending.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-reserve",
    bin_name = "kubectl reserve",
    version,
    disable_help_subcommand = false,
    after_help = EXAMPLES
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// How to reach the cluster.
    #[command(flatten)]
    pub(crate) connection: Connection,
}

const EXAMPLES: &str = "\
Examples:
  # What is reserved, for whom, until when
  kubectl reserve list -A

  # Why a pod is Pending
  kubectl reserve explain web-7d9f-k2x8q -n shop";

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List reservations
    #[command(visible_alias = "ls")]
    List(List),
    /// Explain why a pod is Pending: what every node lacks, and for whom room is kept
    #[command(visible_alias = "why")]
    Explain(Explain),
}

/// `kubectl reserve list`.
#[derive(Debug, Args)]
#[command(after_help = "Reservations whose owner is not known are always listed.")]
pub(crate) struct List {
    /// List reservations of all namespaces
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,

    /// Leave out the header line
    #[arg(long)]
    pub(crate) no_headers: bool,
}

/// `kubectl reserve explain`.
#[derive(Debug, Args)]
#[command(after_help = "Exit code 10 means that no node can have the pod now.")]
pub(crate) struct Explain {
    /// The pod: NAME or pod/NAME
    #[arg(value_name = "POD")]
    pub(crate) pod: String,
}

/// The forms of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// Columns for people
    Table,
    /// More columns
    Wide,
    /// NODE/NAME, one a line
    Name,
    /// JSON
    Json,
    /// YAML
    Yaml,
}

/// kubectl's connection flags. kubectl does not pass its own to a plugin, so each is taken after any verb.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct Connection {
    /// Path to the kubeconfig file
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// The kubeconfig context to use
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) context: Option<String>,

    /// The kubeconfig cluster to use
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) cluster: Option<String>,

    /// The kubeconfig user to use
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) user: Option<String>,

    /// The namespace
    #[arg(short, long, global = true, value_name = "NAME")]
    pub(crate) namespace: Option<String>,

    /// Act as this user
    #[arg(long = "as", global = true, value_name = "USER")]
    pub(crate) as_user: Option<String>,

    /// Act as a member of this group; may be repeated
    #[arg(long, global = true, value_name = "GROUP")]
    pub(crate) as_group: Vec<String>,

    /// Give up a request after this long, like 1s, 2m, 3h; 0 for never
    #[arg(long, global = true, value_name = "DURATION", default_value = "0")]
    pub(crate) request_timeout: String,

    /// Address of the API server
    #[arg(short, long, global = true, value_name = "URL")]
    pub(crate) server: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }
}
