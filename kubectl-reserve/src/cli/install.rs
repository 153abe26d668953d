//! `kubectl reserve install` and `uninstall`.

use super::print::Print;
use crate::node_patch::DryRun;
use clap::builder::PossibleValue;
use clap::{ArgAction, Args, ValueEnum};
use jiff::SignedDuration;

/// `kubectl reserve install`.
#[derive(Debug, Args)]
#[command(after_help = INSTALL_EXAMPLES)]
pub(crate) struct Install {
    /// The daemon's image [default: reserve-daemon, of this version]
    #[arg(long, value_name = "REF")]
    pub(crate) image: Option<String>,

    /// Let the daemon answer kube-scheduler as its extender, too
    #[arg(long)]
    pub(crate) extender: bool,

    /// Only say what would be done: without asking the server to check it (client), or with (server)
    #[arg(long, value_name = "HOW", default_value = "none", default_missing_value = "client", num_args = 0..=1, require_equals = true)]
    pub(crate) dry_run: DryRun,

    /// Wait until the new replicas run
    #[arg(long, value_name = "BOOL", default_value_t = true, default_missing_value = "true", num_args = 0..=1, require_equals = true, action = ArgAction::Set)]
    pub(crate) wait: bool,

    /// How long to wait
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    pub(crate) timeout: SignedDuration,

    #[command(flatten)]
    pub(crate) print: Print,
}

const INSTALL_EXAMPLES: &str = "\
Examples:
  # Install the daemon, or bring it to this version
  kubectl reserve install --image registry.example.com/reserve-daemon:0.1.0

  # See what would be applied, without a cluster
  kubectl reserve install --dry-run=client -o yaml

It goes into the namespace kube-reserve unless -n names another one. Then every command needs
--daemon-namespace NAME.";

impl Install {
    /// Whether no cluster is needed: the manifests are only printed.
    pub(crate) fn is_offline(&self) -> bool {
        self.dry_run == DryRun::Client && !self.print.output.is_table()
    }
}

/// `kubectl reserve uninstall`.
#[derive(Debug, Args)]
#[command(after_help = UNINSTALL_EXAMPLES)]
pub(crate) struct Uninstall {
    /// Go on although workloads are placed by it, or kube-scheduler asks it
    #[arg(long)]
    pub(crate) force: bool,

    /// Remove reservations that were made by hand, too
    #[arg(long)]
    pub(crate) all: bool,

    /// Only say what would be done: without asking the server to check it (client), or with (server)
    #[arg(long, value_name = "HOW", default_value = "none", default_missing_value = "client", num_args = 0..=1, require_equals = true)]
    pub(crate) dry_run: DryRun,

    /// How long to wait for the daemon's end
    #[arg(long, value_name = "DURATION", default_value = "2m")]
    pub(crate) timeout: SignedDuration,
}

const UNINSTALL_EXAMPLES: &str = "\
Examples:
  # What would be removed, and who still needs it
  kubectl reserve uninstall --dry-run

  # Remove the daemon, its rights and policies, and all reservations
  kubectl reserve uninstall --all";

impl ValueEnum for DryRun {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::None, Self::Client, Self::Server]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Self::None => "none",
            Self::Client => "client",
            Self::Server => "server",
        }))
    }
}
