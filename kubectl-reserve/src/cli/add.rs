//! `kubectl reserve add`.

use super::dry_run::DryRunFlag;
use clap::{ArgGroup, Args};

const EXAMPLES: &str = "\
Examples:
  # Keep the place of a pod for ten minutes, whoever deletes it
  kubectl reserve add --pod shop-0

  # Keep room on a node for a pod that a workload is about to get
  kubectl reserve add --node node-2 --for sts/batch --memory 1Gi

  # For half an hour; --resource nvidia.com/gpu=2 keeps anything else
  kubectl reserve add --node node-2 --for sts/batch --memory 1Gi --ttl 30m

  # In the plain form, which never expires: reserve.cpu/<uid>
  kubectl reserve add --node node-2 --for sts/batch --memory 1Gi --plain";

/// `kubectl reserve add`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("whose").multiple(false))]
pub(crate) struct Add {
    /// The node that keeps the room
    #[arg(long, value_name = "NODE", conflicts_with = "pod")]
    pub(crate) node: Option<String>,

    /// Keep the place of this pod: its node, its amounts, its owner
    #[arg(long, value_name = "POD", group = "whose")]
    pub(crate) pod: Option<String>,

    /// Whom it is for: a workload, a pod, or with --plain a UID
    #[arg(long = "for", value_name = "TYPE/NAME", group = "whose")]
    pub(crate) owner: Option<String>,

    /// How much cpu, like 500m or 2
    #[arg(long, value_name = "QUANTITY")]
    pub(crate) cpu: Option<String>,

    /// How much memory, like 512Mi
    #[arg(long, value_name = "QUANTITY")]
    pub(crate) memory: Option<String>,

    /// How much of anything else, like nvidia.com/gpu=1 or ephemeral-storage=1Gi; may be repeated
    #[arg(long = "resource", value_name = "NAME=QUANTITY")]
    pub(crate) resources: Vec<String>,

    /// For how long, 1h at most
    #[arg(long, value_name = "DURATION", default_value = "10m", conflicts_with = "plain")]
    pub(crate) ttl: String,

    /// Why, for whoever reads it later
    #[arg(long, value_name = "TEXT", default_value = "", conflicts_with = "plain")]
    pub(crate) reason: String,

    /// The priority that it has: pods above it need not heed it [default: that of the owner's pods]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, conflicts_with = "plain")]
    pub(crate) priority: Option<i32>,

    /// In the original form, reserve.cpu/<uid>: without record and expiry
    #[arg(long)]
    pub(crate) plain: bool,

    /// Also if it is more than the node has at all
    #[arg(long)]
    pub(crate) force_overcommit: bool,

    /// Whether anything is really changed.
    #[command(flatten)]
    pub(crate) dry_run: DryRunFlag,
}
