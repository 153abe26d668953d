//! `kubectl reserve list`.

use super::print::Print;
use super::topics::STATES;
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  # What is reserved in this namespace, for whom, until when
  kubectl reserve list

  # In all namespaces, with who made it and why
  kubectl reserve list -A -o wide

  # Whatever is reserved on one node, on nodes with a label, for one owner,
  # or for nobody any more
  kubectl reserve list -A --node node-2
  kubectl reserve list -A -l pool=gpu
  kubectl reserve list --owner statefulset/shop
  kubectl reserve list -A --orphaned

  # Release all that have expired
  kubectl reserve list -A --expired -o name | xargs kubectl reserve release

Reservations whose namespace is not known are listed in every namespace.";

/// `kubectl reserve list`.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{STATES}"))]
pub(crate) struct List {
    /// Only these: NAME or NODE/NAME
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// List reservations of all namespaces
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,

    /// Only those on this node
    #[arg(long, value_name = "NODE")]
    pub(crate) node: Option<String>,

    /// Only those on nodes with these labels; reservations have none of their own
    #[arg(short = 'l', long, value_name = "SELECTOR", conflicts_with_all = ["names", "node"])]
    pub(crate) selector: Option<String>,

    /// Only those of this owner
    #[arg(long, value_name = "TYPE/NAME")]
    pub(crate) owner: Option<String>,

    /// Only those whose time is over
    #[arg(long)]
    pub(crate) expired: bool,

    /// Only those whose owner is gone
    #[arg(long)]
    pub(crate) orphaned: bool,

    /// Show again what changes: on a terminal the whole table, in a pipe the rows
    #[arg(short, long)]
    pub(crate) watch: bool,

    /// Say with each line of --watch what happened: ADDED, MODIFIED or DELETED
    #[arg(long, requires = "watch")]
    pub(crate) output_watch_events: bool,

    /// Ask this snapshot, which explain --save-snapshot wrote, instead of the cluster
    #[arg(long, value_name = "FILE", conflicts_with = "watch")]
    pub(crate) snapshot: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) print: Print,
}
