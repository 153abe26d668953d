//! What can be typed, and nothing more: help and completion are made from it. One file a verb.

mod add;
mod connection;
mod describe;
mod dry_run;
mod explain;
mod extend;
mod list;
mod nodes;
mod print;
mod release;
mod talk;

pub(crate) use add::Add;
pub(crate) use connection::Connection;
pub(crate) use describe::Describe;
pub(crate) use explain::Explain;
pub(crate) use extend::Extend;
pub(crate) use list::List;
pub(crate) use nodes::Nodes;
pub(crate) use print::Print;
pub(crate) use release::Release;
pub(crate) use talk::{Talk, When};

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
    /// List reservations
    #[command(visible_alias = "ls")]
    List(List),
    /// Show everything about a reservation, or about all of a node or a pod
    Describe(Describe),
    /// Reserve room by hand: the place of a pod, or so much for an owner
    Add(Add),
    /// Release reservations, so that others can have the room
    Release(Release),
    /// Let reservations live longer
    Extend(Extend),
    /// Show what nodes have, and what of it is requested, reserved and free
    Nodes(Nodes),
    /// Explain why a pod is Pending: what every node lacks, and for whom room is kept
    #[command(visible_alias = "why")]
    Explain(Explain),
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
