//! kubectl's print flags: `-o` and what goes with it.

use crate::print::Output;
use clap::Args;

/// In which form data is printed.
#[derive(Debug, Default, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Print {
    /// Output format: table, wide, name, json, yaml, jsonpath=TEMPLATE or custom-columns=SPEC; of explain, nodes, list and fit
    /// also html and markdown, reports to share
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output: Output,

    /// Leave out the header line
    #[arg(long)]
    pub(crate) no_headers: bool,

    /// Sort the items by what this path leads to, like .metadata.name
    #[arg(long, value_name = "JSONPATH")]
    pub(crate) sort_by: Option<String>,
}
