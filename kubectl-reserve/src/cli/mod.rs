//! The command line as clap definitions, one file for each verb. Help and completion are made from these definitions. Nothing
//! here connects to a cluster; `commands` does what the parsed values say.
//!
//! Entry point: [`Invocation::parse`]. The doc comments of structs and fields are help texts that users see.

mod add;
mod completion;
mod connection;
mod demo;
mod describe;
mod drain;
pub(crate) mod dry_run;
mod duration;
mod explain;
mod extend;
mod fit;
mod help;
mod install;
mod list;
mod nodes;
mod pod;
mod print;
pub(crate) mod recreate;
mod release;
mod restart;
mod sandbox;
mod status;
mod terminal;
mod topics;
mod version;

pub(crate) use add::Add;
pub(crate) use completion::{Completion, CompletionTarget};
pub(crate) use connection::Connection;
pub(crate) use demo::Demo;
pub(crate) use describe::Describe;
pub(crate) use drain::Drain;
pub(crate) use explain::{Explain, PreemptionMode};
pub(crate) use extend::Extend;
pub(crate) use fit::Fit;
pub(crate) use help::Invocation;
pub(crate) use install::{Install, Uninstall};
pub(crate) use list::List;
pub(crate) use nodes::Nodes;
pub(crate) use pod::Pod;
pub(crate) use print::Print;
pub(crate) use recreate::Recreate;
pub(crate) use release::Release;
pub(crate) use restart::Restart;
pub(crate) use sandbox::Sandbox;
pub(crate) use status::{Doctor, Status};
pub(crate) use terminal::{ColorMode, TerminalFlags};
pub(crate) use version::Version;

use clap::{Parser, Subcommand};

/// Keep a pod's place while it is recreated, and find out why pods are Pending.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-reserve",
    bin_name = "kubectl reserve",
    version,
    disable_help_subcommand = false,
    after_help = format!("{EXAMPLES}\n\n{}", topics::LIST)
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
    pub(crate) terminal: TerminalFlags,
}

const EXAMPLES: &str = "\
Examples:
  # What this is for, in fifteen seconds and without a cluster
  kubectl reserve demo

  # What is reserved, for whom, until when
  kubectl reserve list -A

  # Why a pod is Pending
  kubectl reserve explain batch-0";

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Recreate a pod without losing its place
    Pod(Box<Pod>),
    /// Recreate every pod of a workload, one at a time, each in its place
    Restart(Box<Restart>),
    /// Empty a node; every pod has a place elsewhere before any is evicted
    Drain(Drain),
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
    /// Check how many pods fit, and where
    Fit(Fit),
    /// Install the daemon, or bring it to this version
    Install(Install),
    /// Remove the daemon, what belongs to it, and its reservations
    Uninstall(Uninstall),
    /// Show the daemon's replicas, which schedulers enforce reservations, and what is reserved
    Status(Status),
    /// Check everything that has to be right, and say what helps
    Doctor(Doctor),
    /// See what this is for: a small cluster in this process, told in fifteen seconds
    Demo(Demo),
    /// Run that small cluster for real kubectl, until Ctrl-C
    Sandbox(Sandbox),
    /// Print completion scripts, or let kubectl complete this plugin
    Completion(Completion),
    /// Print the versions of this command and of the daemon
    Version(Version),
    /// List the flags that every command has
    Options,
}

/// The flags that are given, each after a space.
fn given(flags: &[(&str, bool)]) -> String {
    flags.iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| format!(" {flag}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{Command, Invocation};

    #[test]
    fn the_definitions_are_sound() {
        Invocation::new(Vec::new()).command().debug_assert();
    }

    /// A command that is printed to go on with must not be refused for a flag that the first one had.
    #[test]
    fn what_goes_on_repeats_the_flags() {
        for (line, expected) in [
            (
                "drain n --ignore-daemonsets --force --pod-selector app=a --timeout 5s",
                " --ignore-daemonsets --force --pod-selector 'app=a'",
            ),
            ("restart deploy/web --unenforced --ignore-pdb", " --ignore-pdb --unenforced"),
            ("restart deploy/web", ""),
        ] {
            let words = ["kubectl-reserve"].into_iter().chain(line.split(' ')).map(Into::into).collect();
            let flags = match Invocation::new(words).parse().unwrap().command {
                Some(Command::Drain(args)) => args.repeated(),
                Some(Command::Restart(args)) => args.recreate.repeated(),
                other => panic!("{other:?}"),
            };
            assert_eq!(flags, expected);
        }
    }
}
