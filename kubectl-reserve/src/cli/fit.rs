//! `kubectl reserve fit`.

use super::print::Print;
use clap::Args;
use std::path::PathBuf;

/// `kubectl reserve fit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Fit {
    /// Pods and workloads in this file; - for stdin
    #[arg(short = 'f', long = "filename", value_name = "FILE", conflicts_with_all = ["cpu", "memory", "resource"])]
    pub(crate) filenames: Vec<PathBuf>,

    /// With -f: also the files in the directory, and in those below
    #[arg(short = 'R', long, requires = "filenames")]
    pub(crate) recursive: bool,

    /// How much cpu a pod asks for, like 500m
    #[arg(long, value_name = "QUANTITY")]
    pub(crate) cpu: Option<String>,

    /// How much memory, like 2Gi
    #[arg(long, value_name = "QUANTITY")]
    pub(crate) memory: Option<String>,

    /// Anything else, like nvidia.com/gpu=1; may be repeated
    #[arg(long, value_name = "NAME=QUANTITY")]
    pub(crate) resource: Vec<String>,

    /// How many pods; of a manifest as many as it says
    #[arg(long, value_name = "N")]
    pub(crate) replicas: Option<u32>,

    /// The pods' priority class
    #[arg(long, value_name = "NAME")]
    pub(crate) priority_class: Option<String>,

    /// Labels that nodes must have, like disktype=ssd
    #[arg(long, value_name = "KEY=VALUE,…", value_delimiter = ',')]
    pub(crate) node_selector: Vec<String>,

    /// A taint that the pods tolerate, like dedicated=db:NoSchedule; may be repeated
    #[arg(long, value_name = "KEY[=VALUE][:EFFECT]")]
    pub(crate) toleration: Vec<String>,

    /// The scheduler that would place them
    #[arg(long, value_name = "NAME")]
    pub(crate) scheduler: Option<String>,

    /// As many pods as there is room for, node by node
    #[arg(long, conflicts_with = "replicas")]
    pub(crate) per_node: bool,

    /// Ask this snapshot instead of the cluster
    #[arg(long, value_name = "FILE")]
    pub(crate) snapshot: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) print: Print,
}

const EXAMPLES: &str = "\
Examples:
  # Would five such pods fit, and where
  kubectl reserve fit --cpu 2 --memory 4Gi --replicas 5

  # Would this manifest fit
  kubectl reserve fit -f deployment.yaml

  # How many GPUs are left, node by node
  kubectl reserve fit --resource nvidia.com/gpu=1 --per-node

Exit code 10 means that not all of them fit now.";
