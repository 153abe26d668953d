//! Flags about the server that answers kube-scheduler as its extender.

use super::value::{file, switch};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Where the extender is served, and to which clients.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "The extender for kube-scheduler")]
pub struct ExtenderArgs {
    /// Where kube-scheduler can ask whether room is kept for others. Without it nobody can.
    #[arg(long, value_name = "IP:PORT")]
    pub extender_address: Option<SocketAddr>,

    /// The extender's certificate, PEM; read again when it changes.
    #[arg(long, value_name = "FILE", value_parser = file)]
    pub extender_cert_file: Option<PathBuf>,

    /// Its key.
    #[arg(long, value_name = "FILE", value_parser = file)]
    pub extender_key_file: Option<PathBuf>,

    /// Who signs the certificates of those who may ask. Only on a loopback address it can be left out.
    #[arg(long, value_name = "FILE", value_parser = file)]
    pub extender_client_ca_file: Option<PathBuf>,

    /// Whether a scheduler may leave the binding of its pods to this daemon (`bindVerb`). [default: true with
    /// --extender-client-ca-file, else false: without certificates every program on this machine could ask for it]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = switch)]
    pub extender_bind: Option<bool>,
}
