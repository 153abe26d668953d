//! The command line, parsed but not checked (`config` does that): kube-scheduler's flags under their own names, and a few of ours.
//! The doc comments of fields are the text of `--help`.
//!
//! Switches and durations are written as in Go (`--leader-elect`, `--leader-elect=false`, `1m30s`). If a flag is repeated, the
//! last value counts; lists are joined. A flag with an empty value (`--kubeconfig=`) counts as not set.

mod election;
mod extender;
mod ignored_flags;
mod logging;
mod serving;
#[cfg(test)]
mod tests;
mod value;

pub use election::ElectionArgs;
pub use extender::ExtenderArgs;
pub use ignored_flags::IgnoredFlags;
pub use logging::{LogArgs, LogFormat};
pub use serving::{AccessArgs, ServingArgs};

use clap::Parser;
use jiff::SignedDuration;
use std::path::PathBuf;
pub(crate) use value::switch;
use value::{duration, file};

const REST: &str =
    "Every other flag of kube-scheduler is taken too; what it does not do here is said in the log.";

/// A Kubernetes scheduler that keeps the place of a pod while it is recreated. It takes kube-scheduler's flags and
/// configuration file.
#[derive(Debug, Parser)]
#[command(name = "reserve-daemon", version, args_override_self = true, after_help = REST)]
pub struct Args {
    /// A KubeSchedulerConfiguration: which pods to place, and with which plugins.
    #[arg(long, value_name = "FILE", value_parser = file)]
    pub config: Option<PathBuf>,

    /// Without --config: the schedulerName of the pods to place; may be repeated. [default: reserve-scheduler]
    #[arg(long = "scheduler-name", value_name = "NAME", conflicts_with = "config")]
    pub scheduler_names: Vec<String>,

    /// Write the configuration with all its defaults to this file, and exit.
    #[arg(long, value_name = "FILE", value_parser = file)]
    pub write_config_to: Option<PathBuf>,

    /// How to reach the cluster, unless the --config file says so. Without it: the pod's own service account, then the
    /// usual kubeconfig.
    #[arg(long, value_name = "FILE", value_parser = file, help_heading = "The cluster")]
    pub kubeconfig: Option<PathBuf>,

    /// The API server's address, whatever the kubeconfig says.
    #[arg(long, value_name = "URL", help_heading = "The cluster")]
    pub master: Option<String>,

    /// Without --config: requests for each second, on average. [default: 50]
    #[arg(long, value_name = "NUMBER", help_heading = "The cluster", allow_negative_numbers = true)]
    pub kube_api_qps: Option<f32>,

    /// Without --config: requests at once. [default: 100]
    #[arg(long, value_name = "NUMBER", help_heading = "The cluster")]
    pub kube_api_burst: Option<i32>,

    /// The namespace of this daemon and of its Leases. [default: that of its service account, else kube-system]
    #[arg(long, value_name = "NAME", env = "POD_NAMESPACE", help_heading = "The cluster")]
    pub namespace: Option<String>,

    /// What this replica is called, unlike any other. [default: the machine's name]
    #[arg(long, value_name = "NAME", env = "POD_NAME", help_heading = "The cluster")]
    pub replica_name: Option<String>,

    /// Reservations that are made by themselves in one namespace, at most.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub automatic_per_namespace: u32,

    /// How long a pod without a place waits before it is tried again although nothing changed.
    #[arg(long, value_name = "DURATION", value_parser = duration, hide = true)]
    pub pod_max_in_unschedulable_pods_duration: Option<SignedDuration>,

    /// Gates of kube-scheduler, `Name=true`. They stand where kube-scheduler has them; a warning says so.
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide = true)]
    pub feature_gates: Vec<String>,

    /// Which of several replicas works.
    #[command(flatten)]
    pub election: ElectionArgs,

    /// Where health and metrics are served.
    #[command(flatten)]
    pub serving: ServingArgs,

    /// Who may see them.
    #[command(flatten)]
    pub access: AccessArgs,

    /// Where kube-scheduler can ask.
    #[command(flatten)]
    pub extender: ExtenderArgs,

    /// How to log.
    #[command(flatten)]
    pub log: LogArgs,

    /// What has no meaning here.
    #[command(flatten)]
    pub ignored_flags: IgnoredFlags,
}
