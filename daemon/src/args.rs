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

    /// A KubeSchedulerConfiguration: which pods to place, and with which plugins.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Without --config: the schedulerName of the pods to place; may be repeated. [default: reserve-scheduler]
    #[arg(long = "scheduler-name", value_name = "NAME", conflicts_with = "config")]
    pub scheduler_names: Vec<String>,

    /// Whether replicas agree on one that works. [default: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub leader_elect: Option<bool>,

    /// Where this daemon and its Leases live. [default: the namespace of its service account, else kube-system]
    #[arg(long, value_name = "NAME", env = "POD_NAMESPACE")]
    pub namespace: Option<String>,

    /// What this replica is called. [default: the name of its pod, else of its machine]
    #[arg(long, value_name = "NAME", env = "POD_NAME")]
    pub replica_name: Option<String>,

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
