//! `kubectl reserve sandbox`.

use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  # The cluster of the demo, for real kubectl; Ctrl-C ends it
  kubectl reserve sandbox

  # Five empty nodes, and a kubeconfig in this folder
  kubectl reserve sandbox --nodes 5 --empty --kubeconfig-out sandbox.kubeconfig

It is a cluster in the memory of this process: an API server on loopback, nodes on
which pods only pretend to run, and the daemon. Anybody on this machine can reach
it; nothing is kept when it ends. Other kubeconfigs are neither read nor changed.";

/// `kubectl reserve sandbox`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Sandbox {
    /// How many nodes there are
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) nodes: u16,

    /// Only nodes; without it, the workloads of the demo
    #[arg(long)]
    pub(crate) empty: bool,

    /// The port on 127.0.0.1; 0 for any that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,

    /// Where to write the kubeconfig; by default a file in your cache folder
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig_out: Option<PathBuf>,
}
