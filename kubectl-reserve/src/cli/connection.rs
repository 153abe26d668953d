//! kubectl's connection flags, and the flag for the daemon's namespace. kubectl does not pass its own flags on to a plugin, so
//! each flag is accepted after any verb.

use clap::Args;
use std::path::PathBuf;

/// How to reach the cluster, by kubectl's names.
#[derive(Debug, Default, Clone, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct Connection {
    /// Path to the kubeconfig file
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// The kubeconfig context to use
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) context: Option<String>,

    /// The kubeconfig cluster to use
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) cluster: Option<String>,

    /// The kubeconfig user to use
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) user: Option<String>,

    /// The namespace
    #[arg(short, long, global = true, value_name = "NAME")]
    pub(crate) namespace: Option<String>,

    /// The namespace of the daemon, unless it is kube-reserve or kube-system; Leases elsewhere are ignored
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) daemon_namespace: Option<String>,

    /// Act as this user
    #[arg(long = "as", global = true, value_name = "USER")]
    pub(crate) as_user: Option<String>,

    /// Act as a member of this group; may be repeated
    #[arg(long, global = true, value_name = "GROUP")]
    pub(crate) as_group: Vec<String>,

    /// Act as the user with this UID
    #[arg(long, global = true, value_name = "UID")]
    pub(crate) as_uid: Option<String>,

    /// Act as a user with this extra; may be repeated
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) as_user_extra: Vec<String>,

    /// Give up a request after this long, like 1s, 2m, 3h; 0 for never
    #[arg(long, global = true, value_name = "DURATION", default_value = "0")]
    pub(crate) request_timeout: String,

    /// Address of the API server
    #[arg(short, long, global = true, value_name = "URL")]
    pub(crate) server: Option<String>,

    /// Bearer token for the API server
    #[arg(long, global = true, value_name = "TOKEN")]
    pub(crate) token: Option<String>,

    /// The name that the server's certificate must have, if not that of the address
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) tls_server_name: Option<String>,

    /// Do not check the server's certificate: anybody could answer in its place
    #[arg(long, global = true, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true")]
    pub(crate) insecure_skip_tls_verify: Option<bool>,

    /// File with the certificates of the authority that the server's must be from
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) certificate_authority: Option<PathBuf>,

    /// File with a client certificate
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) client_certificate: Option<PathBuf>,

    /// File with the key of the client certificate
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) client_key: Option<PathBuf>,

    /// Reach the API server through this proxy
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) proxy_url: Option<String>,

    /// Accepted for compatibility; ignored
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) cache_dir: Option<PathBuf>,

    /// Accepted for compatibility; ignored
    #[arg(long, global = true, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true")]
    pub(crate) disable_compression: Option<bool>,
}
