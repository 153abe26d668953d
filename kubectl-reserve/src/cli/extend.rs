//! `kubectl reserve extend`.

use super::dry_run::DryRunFlag;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  # Let a reservation live for half an hour from now
  kubectl reserve extend 7f3a0c --ttl 30m

  # Let it end in a minute, although it would live longer
  kubectl reserve extend node-2/7f3a0c --ttl 1m --shorten";

/// `kubectl reserve extend`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Extend {
    /// Which ones: NAME or NODE/NAME
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,

    /// For how long from now, 1h at most
    #[arg(long, value_name = "DURATION")]
    pub(crate) ttl: String,

    /// Also if that is earlier than now set
    #[arg(long)]
    pub(crate) shorten: bool,

    /// Whether anything is really changed.
    #[command(flatten)]
    pub(crate) dry_run: DryRunFlag,
}
