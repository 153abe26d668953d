//! `kubectl reserve describe`.

use super::print::Print;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  # One reservation: whose, how much, its state and why, who waits for the room
  kubectl reserve describe 7f3a0c

  # Everything that is reserved on a node, and for a pod
  kubectl reserve describe node/node-2
  kubectl reserve describe pod/shop-0

  # The same reservations as list prints them for programs
  kubectl reserve describe node/node-2 -o json";

/// `kubectl reserve describe`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Describe {
    /// Which: NAME, NODE/NAME, node/NAME, pod/NAME, node NAME or pod NAME
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,

    /// Leave out events
    #[arg(long)]
    pub(crate) no_events: bool,

    #[command(flatten)]
    pub(crate) print: Print,
}
