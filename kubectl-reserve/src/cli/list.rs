//! `kubectl reserve list`.

use super::print::Print;
use clap::Args;

/// `kubectl reserve list`.
#[derive(Debug, Args)]
#[command(after_help = "Reservations whose owner is not known are always listed.")]
pub(crate) struct List {
    /// List reservations of all namespaces
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,

    /// The form.
    #[command(flatten)]
    pub(crate) print: Print,
}
