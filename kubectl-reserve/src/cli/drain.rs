//! `kubectl reserve drain`.

use super::dry_run::DryRunFlag;
use super::duration::parse_duration;
use clap::Args;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  # See where each pod would go
  kubectl reserve drain node-2 --ignore-daemonsets --dry-run

  # Empty the node; every pod has a place elsewhere before any is evicted
  kubectl reserve drain node-2 --ignore-daemonsets

It ends when the pods are gone from the node. Exit code 12: the timeout passed
before. Exit code 13: a pod has no place; then nothing was changed.";

/// `kubectl reserve drain`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Drain {
    /// The node
    #[arg(value_name = "NODE")]
    pub(crate) node: String,

    /// Leave DaemonSet-managed pods where they are
    #[arg(long)]
    pub(crate) ignore_daemonsets: bool,

    /// Also evict pods with emptyDir volumes, whose data is lost
    #[arg(long)]
    pub(crate) delete_emptydir_data: bool,

    /// Also evict pods that declare no controller; this command creates them again
    #[arg(long)]
    pub(crate) force: bool,

    /// Only the pods with these labels
    #[arg(long, value_name = "SELECTOR", default_value = "")]
    pub(crate) pod_selector: String,

    /// Seconds that each pod gets to end; -1 for what it asks for itself
    #[arg(long, value_name = "SECONDS", default_value_t = -1, allow_negative_numbers = true)]
    pub(crate) grace_period: i64,

    /// How long to wait before giving up; 0 without limit
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = parse_duration)]
    pub(crate) timeout: Duration,

    /// Whether anything is really changed.
    #[command(flatten)]
    pub(crate) dry_run: DryRunFlag,

    /// Delete instead of evict: no PodDisruptionBudget is asked
    #[arg(long)]
    pub(crate) disable_eviction: bool,

    /// How long each place is kept after the pod is gone; at most 1h
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = parse_duration)]
    pub(crate) ttl: Duration,

    /// Go on although nothing keeps others out of the reserved room
    #[arg(long)]
    pub(crate) unenforced: bool,
}

impl Drain {
    /// The flags without which the same drain would be refused, as they are typed.
    pub(crate) fn repeated(&self) -> String {
        let flags = [
            ("--ignore-daemonsets", self.ignore_daemonsets),
            ("--delete-emptydir-data", self.delete_emptydir_data),
            ("--force", self.force),
            ("--disable-eviction", self.disable_eviction),
            ("--unenforced", self.unenforced),
        ];
        let mut words = super::given(&flags);
        if !self.pod_selector.is_empty() {
            words += &format!(" --pod-selector '{}'", self.pod_selector);
        }
        words
    }
}
