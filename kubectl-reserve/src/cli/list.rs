//! `kubectl reserve list`.

use super::print::Print;
use clap::Args;

const NOTES: &str = "\
Reservations whose owner is not known are always listed.

Examples:
  # What is reserved for the workloads of a namespace
  kubectl reserve list -n shop

  # What is reserved in the whole cluster, by state
  kubectl reserve list -A --sort-by=.state";

/// `kubectl reserve list`.
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(crate) struct List {
    /// List reservations of all namespaces
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,

    /// The form.
    #[command(flatten)]
    pub(crate) print: Print,
}
