//! Flags about leader election. They override the configuration file.

use super::value::{duration, switch};
use jiff::SignedDuration;

/// The flags about leader election; `None`: not set.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Leader election")]
pub struct ElectionArgs {
    /// Whether replicas agree on one that works. [default: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = switch)]
    pub leader_elect: Option<bool>,

    /// How long others wait after the leader's last word. [default: 15s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub leader_elect_lease_duration: Option<SignedDuration>,

    /// How long the leader tries to renew before it gives up. [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub leader_elect_renew_deadline: Option<SignedDuration>,

    /// How long to wait between tries. [default: 2s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub leader_elect_retry_period: Option<SignedDuration>,

    /// `leases`.
    #[arg(long, value_name = "KIND", hide = true)]
    pub leader_elect_resource_lock: Option<String>,

    /// The Lease's name. [default: reserve-daemon; kube-scheduler with --config or as default-scheduler]
    #[arg(long, value_name = "NAME")]
    pub leader_elect_resource_name: Option<String>,

    /// The Lease's namespace. [default: that of the daemon; kube-system with --config or as default-scheduler]
    #[arg(long, value_name = "NAME")]
    pub leader_elect_resource_namespace: Option<String>,
}
