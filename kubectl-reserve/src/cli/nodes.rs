//! `kubectl reserve nodes`.

use super::print::Print;
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  # What every node has, and what of it is requested, reserved and free
  kubectl reserve nodes

  # Only what is free, the fullest nodes first
  kubectl reserve nodes --free --sort-by free.cpu

  # With devices, host ports and memory
  kubectl reserve nodes -l pool=gpu --show gpu,ports -o wide";

/// `kubectl reserve nodes`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Nodes {
    /// Only these
    #[arg(value_name = "NODE", conflicts_with = "selector")]
    pub(crate) names: Vec<String>,

    /// Only those with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub(crate) selector: Option<String>,

    /// Only what is free
    #[arg(long)]
    pub(crate) free: bool,

    /// More columns: pods, ports, gpu, ephemeral-storage, or any resource by its name
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) show: Vec<String>,

    /// Show the nodes again whenever something changes
    #[arg(short, long)]
    pub(crate) watch: bool,

    /// Ask this snapshot, which explain --save-snapshot wrote, instead of the cluster
    #[arg(long, value_name = "FILE", conflicts_with = "watch")]
    pub(crate) snapshot: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) print: Print,
}
