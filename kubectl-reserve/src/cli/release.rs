//! `kubectl reserve release`.

use super::dry_run::DryRunFlag;
use clap::{ArgGroup, Args};

const EXAMPLES: &str = "\
Examples:
  # Give the room of one reservation back
  kubectl reserve release 7f3a0c
  kubectl reserve release node-2/a8f6f901-47c9-4475-b1f4-cac44597e173

  # Whatever is kept for a pod, on a node, or for owners that are gone
  kubectl reserve release --pod shop-0
  kubectl reserve release --node node-2 -A
  kubectl reserve release --orphaned -A

Reservations that were made by hand in the plain form are released only by name, or with --manual.";

/// `kubectl reserve release`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("by_kind").multiple(true).conflicts_with("names"))]
pub(crate) struct Release {
    /// Which ones: NAME or NODE/NAME
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// Those that keep the place of this pod, or that it took
    #[arg(long, value_name = "POD", group = "by_kind")]
    pub(crate) pod: Option<String>,

    /// Those on this node
    #[arg(long, value_name = "NODE", group = "by_kind")]
    pub(crate) node: Option<String>,

    /// Those whose time is over
    #[arg(long, group = "by_kind")]
    pub(crate) expired: bool,

    /// Those whose owner is gone
    #[arg(long, group = "by_kind")]
    pub(crate) orphaned: bool,

    /// All of the namespace; asks first
    #[arg(long, group = "by_kind")]
    pub(crate) all: bool,

    /// In all namespaces
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,

    /// Also those that were made by hand in the plain form
    #[arg(long, conflicts_with = "names")]
    pub(crate) manual: bool,

    /// Ignore names that do not exist
    #[arg(long)]
    pub(crate) ignore_not_found: bool,

    /// Whether anything is really changed.
    #[command(flatten)]
    pub(crate) dry_run: DryRunFlag,
}

impl Release {
    /// Whether a flag, rather than a name, selects the reservations.
    pub(crate) fn has_filters(&self) -> bool {
        self.pod.is_some() || self.node.is_some() || self.expired || self.orphaned || self.all
    }
}
