//! `kubectl reserve restart`.

use super::print::Print;
use super::recreate::Recreate;
use clap::Args;
use jiff::Timestamp;

const EXAMPLES: &str = "\
Examples:
  # Recreate every pod of a workload, one at a time, each in its place
  kubectl reserve restart statefulset/shop

  # After a failure: the same command goes on with the pods that are left
  kubectl reserve restart statefulset/shop

  # Begin anew
  kubectl reserve restart statefulset/shop --all

A restart that was left in the middle is remembered on this machine, by the
workload's UID and the time when it began; pods created since then are done.";

/// `kubectl reserve restart`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Restart {
    /// The workloads: TYPE/NAME
    #[arg(value_name = "TYPE/NAME", required = true)]
    pub(crate) names: Vec<String>,

    /// Also recreate pods that an earlier restart, left in the middle, has recreated already
    #[arg(long, conflicts_with = "since")]
    pub(crate) all: bool,

    /// Only pods that were created before this time, such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<Timestamp>,

    /// How.
    #[command(flatten)]
    pub(crate) recreate: Recreate,

    #[command(flatten)]
    pub(crate) print: Print,
}
