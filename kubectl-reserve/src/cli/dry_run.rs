//! `--dry-run`, as kubectl has it.

use crate::node_patch::DryRun;
use clap::Args;

/// Whether anything is really changed.
#[derive(Debug, Default, Clone, Copy, Args)]
pub(crate) struct DryRunFlag {
    /// Only say what would be done: client (nothing is sent) or server (checked there, and not stored)
    #[arg(
        long,
        value_enum,
        value_name = "none|client|server",
        default_value_t = DryRun::None,
        default_missing_value = "client",
        num_args = 0..=1,
        require_equals = true
    )]
    pub(crate) dry_run: DryRun,
}
