//! Flags about the port for health and metrics, and about the users that may read them.

use super::value::{duration, file, switch};
use jiff::SignedDuration;
use std::net::IpAddr;
use std::path::PathBuf;

/// Where health and metrics are served, and with which certificate.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Health and metrics")]
pub struct ServingArgs {
    /// The port for HTTPS; 0 serves nothing.
    #[arg(long, value_name = "PORT", default_value_t = 10259)]
    pub secure_port: u16,

    /// The address to listen on.
    #[arg(long, value_name = "IP", default_value = "0.0.0.0")]
    pub bind_address: IpAddr,

    /// Where `/livez`, `/readyz` and `/healthz` are served over plain HTTP as well, for kubelets. Without it: only on the
    /// port for HTTPS.
    #[arg(long, value_name = "[IP]:PORT")]
    pub health_probe_bind_address: Option<String>,

    /// Where `kube-scheduler.crt` and `.key` are, or are put when there are none. Without it they stay in memory.
    #[arg(long, value_name = "DIR", value_parser = file)]
    pub cert_dir: Option<PathBuf>,

    /// The server's certificate, PEM; read again when it changes.
    #[arg(long, value_name = "FILE", value_parser = file)]
    pub tls_cert_file: Option<PathBuf>,

    /// Its key.
    #[arg(long, value_name = "FILE", value_parser = file)]
    pub tls_private_key_file: Option<PathBuf>,

    /// VersionTLS12 or VersionTLS13. [default: VersionTLS12]
    #[arg(long, value_name = "VERSION")]
    pub tls_min_version: Option<String>,

    /// Cipher suites of TLS 1.2 that may be used. [default: all that are safe]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub tls_cipher_suites: Vec<String>,

    /// Whether others may listen on the same port.
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = switch, hide = true)]
    pub permit_port_sharing: bool,
}

/// How clients are authenticated and authorized.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Who may see them")]
pub struct AccessArgs {
    /// The cluster that knows who somebody is. [default: the pod's own]
    #[arg(long, value_name = "FILE", value_parser = file)]
    pub authentication_kubeconfig: Option<PathBuf>,

    /// Do not look for certificate authorities in the cluster.
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = switch, hide = true)]
    pub authentication_skip_lookup: bool,

    /// Start without them when they cannot be read.
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true", value_parser = switch, hide = true)]
    pub authentication_tolerate_lookup_failure: bool,

    /// How long an answer about a token is remembered.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "10s", hide = true)]
    pub authentication_token_webhook_cache_ttl: SignedDuration,

    /// The cluster that knows who may do what. [default: the pod's own]
    #[arg(long, value_name = "FILE", value_parser = file)]
    pub authorization_kubeconfig: Option<PathBuf>,

    /// Paths that everybody may see.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_values = ["/healthz", "/readyz", "/livez"]
    )]
    pub authorization_always_allow_paths: Vec<String>,

    /// How long a permission is remembered.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "10s", hide = true)]
    pub authorization_webhook_cache_authorized_ttl: SignedDuration,

    /// How long a refusal is remembered.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "10s", hide = true)]
    pub authorization_webhook_cache_unauthorized_ttl: SignedDuration,

    /// Who signs client certificates. [default: as the cluster says]
    #[arg(long, value_name = "FILE", value_parser = file)]
    pub client_ca_file: Option<PathBuf>,

    /// Who signs the certificates of proxies that name users in headers. [default: as the cluster says]
    #[arg(long, value_name = "FILE", value_parser = file, hide = true)]
    pub requestheader_client_ca_file: Option<PathBuf>,

    /// The proxies; empty: all whose certificate is good.
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide = true)]
    pub requestheader_allowed_names: Vec<String>,

    /// Headers with the user's name.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "x-remote-user", hide = true)]
    pub requestheader_username_headers: Vec<String>,

    /// Headers with the user's UID.
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide = true)]
    pub requestheader_uid_headers: Vec<String>,

    /// Headers with the user's groups.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "x-remote-group", hide = true)]
    pub requestheader_group_headers: Vec<String>,

    /// What headers with more about the user begin with.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "x-remote-extra-", hide = true)]
    pub requestheader_extra_headers_prefix: Vec<String>,
}
