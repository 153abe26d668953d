//! What was typed on the command line, and nothing more.

use clap::Parser;
use std::path::PathBuf;

/// A Kubernetes scheduler that keeps the place of a pod while it is recreated.
#[derive(Debug, Parser)]
#[command(name = "reserve-daemon", version)]
pub struct Args {
    /// How to reach the cluster. Without it: the pod's own service account, then the usual kubeconfig.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// The schedulerName of the pods to place; may be repeated.
    #[arg(long = "scheduler-name", value_name = "NAME", default_value = common::api::names::SCHEDULER_NAME)]
    pub scheduler_names: Vec<String>,

    /// How much to log: 0 for warnings, 2 for what was decided, 4 and more for everything.
    #[arg(short, long = "v", value_name = "LEVEL", default_value_t = 2)]
    pub verbosity: u8,
}

impl Args {
    /// The level that the verbosity stands for.
    pub fn log_level(&self) -> &'static str {
        match self.verbosity {
            0 => "warn",
            1..=3 => "info",
            4..=7 => "debug",
            _ => "trace",
        }
    }
}
