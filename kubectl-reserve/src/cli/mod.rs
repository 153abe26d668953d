//! What can be typed, and nothing more: help and completion are made from it. One file a verb.

mod connection;
mod explain;
mod help;
mod install;
mod list;
mod pod;
mod print;
pub(crate) mod recreate;
mod span;
mod talk;
mod version;

pub(crate) use connection::Connection;
pub(crate) use explain::Explain;
pub(crate) use help::Invocation;
pub(crate) use install::{Install, Uninstall};
pub(crate) use list::List;
pub(crate) use pod::Pod;
pub(crate) use print::Print;
pub(crate) use recreate::Recreate;
pub(crate) use talk::{Talk, When};
pub(crate) use version::Version;

use clap::{Parser, Subcommand};

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

    /// How to talk.
    #[command(flatten)]
    pub(crate) talk: Talk,
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
    /// Recreate a pod without losing its place
    Pod(Box<Pod>),
    /// List reservations
    #[command(visible_alias = "ls")]
    List(List),
    /// Explain why a pod is Pending: what every node lacks, and for whom room is kept
    #[command(visible_alias = "why")]
    Explain(Explain),
    /// Install the daemon, or bring it to this version
    Install(Install),
    /// Remove the daemon, what belongs to it, and its reservations
    Uninstall(Uninstall),
    /// Print the versions of this command and of the daemon
    Version(Version),
    /// List the flags that every command has
    Options,
}

#[cfg(test)]
mod tests {
    use super::Invocation;

    #[test]
    fn the_definitions_are_sound() {
        Invocation::new(Vec::new()).command().debug_assert();
    }
}
