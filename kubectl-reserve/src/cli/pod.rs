//! `kubectl reserve pod`.

use super::print::Print;
use super::recreate::Recreate;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  # Recreate a pod; its room is kept until the replacement is there
  kubectl reserve pod shop-0

  # The one pod of a workload, without a question
  kubectl reserve pod statefulset/shop --yes

  # See the plan, checked by the API server
  kubectl reserve pod shop-0 --dry-run=server

  # Insist on the node
  kubectl reserve pod db-0 --same-node=require

  # Move it to another node, where its room is reserved first
  kubectl reserve pod shop-0 --to node-4

A run that was interrupted says how to go on: with --resume RESERVATION.

Exit codes: 11 blocked by a disruption budget, 12 timeout, 13 no room to
reserve, 14 forbidden, 15 refused for safety or not enforced, 16 ready on
another node although required, 130 interrupted.";

/// `kubectl reserve pod`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Pod {
    /// The pods: NAME or TYPE/NAME. Of a workload with one pod, that pod is meant
    #[arg(value_name = "[TYPE/]NAME", required_unless_present_any = ["selector", "resume"])]
    pub(crate) names: Vec<String>,

    /// All pods with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR", conflicts_with = "names")]
    pub(crate) selector: Option<String>,

    /// Move it: its room is reserved on this node, not on its own
    #[arg(long, value_name = "NODE", conflicts_with_all = ["resume", "no_reserve", "same_node"])]
    pub(crate) to: Option<String>,

    /// Ask before each pod
    #[arg(short, long)]
    pub(crate) interactive: bool,

    /// Go on with the run that made this reservation
    #[arg(long, value_name = "RESERVATION", conflicts_with_all = ["names", "selector"])]
    pub(crate) resume: Option<String>,

    /// How.
    #[command(flatten)]
    pub(crate) recreate: Recreate,

    #[command(flatten)]
    pub(crate) print: Print,
}
