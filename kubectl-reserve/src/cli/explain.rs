//! `kubectl reserve explain`.

use super::print::Print;
use crate::explain::{GroupBy, Limit};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `kubectl reserve explain`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Explain {
    /// Pods or workloads: NAME, TYPE/NAME or TYPE NAME; none for everything that is Pending
    #[arg(value_name = "[TYPE/]NAME")]
    pub(crate) names: Vec<String>,

    /// Look at all namespaces
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,

    /// Only pods with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR", conflicts_with = "names")]
    pub(crate) selector: Option<String>,

    /// Pods and workloads in this file, as if they were created now; - for stdin
    #[arg(short = 'f', long = "filename", value_name = "FILE", conflicts_with_all = ["names", "selector", "all_namespaces"])]
    pub(crate) filenames: Vec<PathBuf>,

    /// With -f: also the files in the directory, and in those below
    #[arg(short = 'R', long, requires = "filenames")]
    pub(crate) recursive: bool,

    /// Every check of this node, with its evidence; may be repeated
    #[arg(long = "node", value_name = "NODE")]
    pub(crate) on: Vec<String>,

    /// Everything about each pod, not only what one screen holds
    #[arg(long, conflicts_with = "brief")]
    pub(crate) full: bool,

    /// With --full: how many of the nearest nodes, or all [default: 5]
    #[arg(long, value_name = "N")]
    pub(crate) nodes: Option<Limit>,

    /// Put nodes together by reason, pool or zone
    #[arg(long, value_name = "WHAT")]
    pub(crate) group_by: Option<GroupBy>,

    /// Suppose a change and say what it alters, like requests.cpu=1500m or uncordon=NODE; may be repeated
    #[arg(long = "what-if", value_name = "CHANGE")]
    pub(crate) what_if: Vec<String>,

    /// With --full: how many fixes, all or none [default: 5]
    #[arg(long, value_name = "N")]
    pub(crate) fixes: Option<Limit>,

    /// Whether to look for pods that would have to go
    #[arg(long, value_enum, value_name = "WHETHER", default_value_t = PreemptionMode::Auto)]
    pub(crate) consider_preemption: PreemptionMode,

    /// Judge as if the pod's scheduler were this one
    #[arg(long, value_name = "NAME")]
    pub(crate) scheduler: Option<String>,

    /// Ask this snapshot instead of the cluster
    #[arg(long, value_name = "FILE", conflicts_with = "save_snapshot")]
    pub(crate) snapshot: Option<PathBuf>,

    /// Write what was read to this file, without secrets, for --snapshot
    #[arg(long, value_name = "FILE")]
    pub(crate) save_snapshot: Option<PathBuf>,

    /// Print again whenever the answer changes
    #[arg(short = 'w', long, conflicts_with_all = ["snapshot", "save_snapshot"])]
    pub(crate) watch: bool,

    /// Only the verdict, one line for each pod
    #[arg(long)]
    pub(crate) brief: bool,

    /// Exit with 10 if at least one pod cannot be scheduled
    #[arg(long, value_name = "true|false", default_value_t = true, action = clap::ArgAction::Set)]
    pub(crate) exit_code: bool,

    #[command(flatten)]
    pub(crate) print: Print,
}

impl Explain {
    /// Whether the whole report about a pod is printed: whoever says how many nodes or fixes to show wants more than one screen.
    pub(crate) fn is_full(&self) -> bool {
        self.full || self.nodes.is_some() || self.fixes.is_some()
    }
}

/// Whether `explain` looks for pods that could be preempted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PreemptionMode {
    /// If nothing else helps
    Auto,
    /// Never
    Off,
}

const EXAMPLES: &str = "\
Examples:
  # Everything that is Pending in the namespace, by cause
  kubectl reserve explain

  # One pod: what the nodes lack, and the commands that would help
  kubectl reserve why batch-0

  # The same with every number of the nearest nodes
  kubectl reserve explain batch-0 --full

  # The pods of a workload, and why it cannot make more
  kubectl reserve explain statefulset/batch

  # A manifest that is not applied yet
  kubectl reserve explain -f job.yaml

  # Save the cluster, and ask again on another machine
  kubectl reserve explain batch-0 --save-snapshot cluster.gz
  kubectl reserve explain batch-0 --snapshot cluster.gz

Exit code 10 means that at least one pod cannot be scheduled now.";
