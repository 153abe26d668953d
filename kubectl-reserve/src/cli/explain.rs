//! `kubectl reserve explain`.

use clap::Args;

/// `kubectl reserve explain`.
#[derive(Debug, Args)]
#[command(after_help = "Exit code 10 means that no node can have the pod now.")]
pub(crate) struct Explain {
    /// The pod: NAME or pod/NAME
    #[arg(value_name = "POD")]
    pub(crate) pod: String,
}
