//! `kubectl reserve demo`.

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  # What this is for, in fifteen seconds
  kubectl reserve demo

  # The same at once, to read it in your own time
  kubectl reserve demo --fast | less

It needs no cluster, no kubeconfig and no network: the API server, the nodes and
the daemon are parts of this process, and nothing outside of it is touched.";

/// `kubectl reserve demo`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Demo {
    /// Without pauses for reading
    #[arg(long)]
    pub(crate) fast: bool,
}
