//! `kubectl reserve version`.

use crate::print::Output;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  # Of this command and of the daemon's replicas
  kubectl reserve version

  # Of this command only; asks no server
  kubectl reserve version --client -o json";

/// `kubectl reserve version`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Version {
    /// Only of this command; asks no server
    #[arg(long)]
    pub(crate) client: bool,

    /// Output format: json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "")]
    pub(crate) output: Output,
}
