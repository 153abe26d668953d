//! The flags of the verbs that recreate pods: `pod` and `restart`.

use super::dry_run::DryRunFlag;
use super::duration::parse_duration;
use clap::{Args, ValueEnum};
use std::time::Duration;

/// How pods are recreated.
#[derive(Debug, Clone, Args)]
pub(crate) struct Recreate {
    /// Whether anything is really changed.
    #[command(flatten)]
    pub(crate) dry_run: DryRunFlag,

    /// How strongly the replacement is tied to its node: wait for it, prefer it, require it, or off to keep nothing there
    #[arg(long, value_enum, value_name = "HOW", default_value_t = SameNode::Wait)]
    pub(crate) same_node: SameNode,

    /// How long the room is kept after it became empty; at most 1h
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = parse_duration)]
    pub(crate) ttl: Duration,

    /// Seconds that the pod gets to end; -1 for what it asks for itself. 0 needs --force
    #[arg(long, value_name = "SECONDS", default_value_t = -1, allow_negative_numbers = true)]
    pub(crate) grace_period: i64,

    /// How long all of it may take for one pod
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = parse_duration)]
    pub(crate) timeout: Duration,

    /// Wait for the replacement; --wait=false returns as soon as the pod is evicted
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_value_t = true,
        default_missing_value = "true",
        action = clap::ArgAction::Set
    )]
    pub(crate) wait: bool,

    /// What is waited for
    #[arg(long = "for", value_enum, value_name = "WHAT", default_value_t = WaitForFlag::Ready)]
    pub(crate) until: WaitForFlag,

    /// What is reserved: all, names as in cpu,memory, or amounts as in cpu=500m; by default what the pod asks for
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub(crate) resources: String,

    /// Also recreate pods that nobody else would (their manifest is backed up), and allow --grace-period=0
    #[arg(long)]
    pub(crate) force: bool,

    /// Also recreate pods with emptyDir volumes, whose data is lost
    #[arg(long)]
    pub(crate) delete_emptydir_data: bool,

    /// Delete instead of evict: no PodDisruptionBudget is asked
    #[arg(long)]
    pub(crate) ignore_pdb: bool,

    /// Go on although nothing keeps others out of the reserved room
    #[arg(long)]
    pub(crate) unenforced: bool,

    /// Reserve nothing: a plain eviction that waits for the replacement
    #[arg(long)]
    pub(crate) no_reserve: bool,
}

impl Recreate {
    /// The flags without which the same would be refused, as they are typed.
    pub(crate) fn repeated(&self) -> String {
        super::given(&[
            ("--force", self.force),
            ("--delete-emptydir-data", self.delete_emptydir_data),
            ("--ignore-pdb", self.ignore_pdb),
            ("--unenforced", self.unenforced),
            ("--no-reserve", self.no_reserve),
        ])
    }
}

/// `--same-node`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SameNode {
    /// It waits for its node while the old pod is terminating
    Wait,
    /// Its node is the first choice
    Prefer,
    /// Its node or none
    Require,
    /// Nothing is kept on its node
    Off,
}

/// `--for`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WaitForFlag {
    /// The replacement is ready
    Ready,
    /// The replacement has a node
    Bound,
    /// The old pod is gone
    Deleted,
}
