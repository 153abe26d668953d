//! `kubectl reserve status` and `doctor`.

use super::print::Print;
use clap::Args;

/// `kubectl reserve status`.
#[derive(Debug, Args)]
#[command(after_help = STATUS_EXAMPLES)]
pub(crate) struct Status {
    /// Show the status again whenever something changes
    #[arg(short, long)]
    pub(crate) watch: bool,

    #[command(flatten)]
    pub(crate) print: Print,
}

const STATUS_EXAMPLES: &str = "\
Examples:
  # Which replicas run, who enforces reservations, what is reserved
  kubectl reserve status

  # The versions that run
  kubectl reserve status -o jsonpath='{.replicas[*].version}'";

/// `kubectl reserve doctor`.
#[derive(Debug, Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) print: Print,
}

const DOCTOR_EXAMPLES: &str = "\
Examples:
  # What is wrong, and what helps
  kubectl reserve doctor

Exit code 0 if nothing fails, whatever the warnings; else 1.";
