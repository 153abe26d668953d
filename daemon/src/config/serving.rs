//! Checks the flags about the server for health and metrics, and about authentication and authorization there.

use super::{SignedDurationExt as _, StartupMessages, non_empty_path};
use crate::args::{AccessArgs, Args};
use anyhow::{Context as _, bail, ensure};
use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// kube-scheduler's port.
pub(super) const PORT: u16 = 10259;

#[derive(Debug, Clone)]
pub struct Serving {
    pub address: SocketAddr,
    /// Whether other processes may listen on the same port (`SO_REUSEPORT`).
    pub is_port_shared: bool,
    pub certificate: Certificate,
    pub is_tls13_only: bool,
    /// The allowed cipher suites of TLS 1.2; empty: all that are safe.
    pub cipher_suites: Vec<String>,
    pub access: Access,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Certificate {
    /// Two files, read again when they change.
    Files {
        /// The certificate and its chain.
        certificate: PathBuf,
        key: PathBuf,
    },
    /// A self-signed certificate, stored in this folder for the next start.
    Folder(PathBuf),
    /// A self-signed certificate that is not stored.
    Memory,
}

#[derive(Debug, Clone)]
pub struct Access {
    /// The kubeconfig for TokenReviews; `None`: the pod's own service account.
    pub authentication_kubeconfig: Option<PathBuf>,
    /// The kubeconfig for SubjectAccessReviews; `None`: the pod's own service account.
    pub authorization_kubeconfig: Option<PathBuf>,
    pub client_ca: Authorities,
    /// The CAs of the certificates of authenticating proxies.
    pub proxy_ca: Authorities,
    /// The headers in which proxies name users. They are read from the cluster unless `proxy_ca` is a file.
    pub headers: Headers,
    /// Whether to start although the CAs cannot be read from the cluster.
    pub is_lookup_failure_tolerated: bool,
    /// How long the result of a TokenReview is cached.
    pub token_ttl: Duration,
    /// How long a positive SubjectAccessReview is cached.
    pub allowed_ttl: Duration,
    /// How long a negative SubjectAccessReview is cached.
    pub refused_ttl: Duration,
    /// Paths that every client may read; a trailing `*` matches everything.
    pub open_paths: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authorities {
    /// A PEM file.
    File(PathBuf),
    /// The ConfigMap `extension-apiserver-authentication` of the cluster.
    Cluster,
    /// Nowhere: no certificate is trusted.
    Nowhere,
}

/// The headers in which an authenticating proxy names a user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers {
    /// The common names of trusted proxies; empty: all.
    pub allowed_names: Vec<String>,
    pub user: Vec<String>,
    pub uid: Vec<String>,
    pub group: Vec<String>,
    /// Prefixes of headers with extra fields of the user.
    pub extra_prefix: Vec<String>,
}

impl Serving {
    /// Checks the flags; `None` if nothing is served.
    pub(super) fn new(args: &Args, messages: &mut StartupMessages) -> anyhow::Result<Option<Self>> {
        let flags = &args.serving;
        let serving = Self {
            address: SocketAddr::new(flags.bind_address, flags.secure_port),
            is_port_shared: flags.permit_port_sharing,
            certificate: certificate(args)?,
            is_tls13_only: is_tls13_only(flags.tls_min_version.as_deref(), messages)?,
            cipher_suites: flags.tls_cipher_suites.iter().filter(|name| !name.is_empty()).cloned().collect(),
            access: access(&args.access)?,
        };
        Ok((flags.secure_port != 0).then_some(serving))
    }
}

/// Parses the address of the extra port for probes. As in Go, `:8081` means all addresses; `0` means nowhere.
pub(super) fn probes(address: Option<&str>) -> anyhow::Result<Option<SocketAddr>> {
    let Some(text) = address.filter(|text| *text != "0") else { return Ok(None) };
    let parsed = match text.strip_prefix(':') {
        Some(port) => port.parse().ok().map(|port: u16| SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))),
        None => text.parse().ok(),
    };
    let hint = "an address is written like :8081 or 127.0.0.1:8081";
    parsed.map(Some).with_context(|| format!("--health-probe-bind-address {text:?}: {hint}"))
}

fn certificate(args: &Args) -> anyhow::Result<Certificate> {
    let flags = &args.serving;
    match (non_empty_path(flags.tls_cert_file.clone()), non_empty_path(flags.tls_private_key_file.clone())) {
        (Some(certificate), Some(key)) => Ok(Certificate::Files { certificate, key }),
        (None, None) => {
            Ok(non_empty_path(flags.cert_dir.clone()).map_or(Certificate::Memory, Certificate::Folder))
        }
        _ => bail!("--tls-cert-file and --tls-private-key-file go together"),
    }
}

fn is_tls13_only(version: Option<&str>, messages: &mut StartupMessages) -> anyhow::Result<bool> {
    match version {
        None | Some("" | "VersionTLS12") => Ok(false),
        Some("VersionTLS13") => Ok(true),
        Some(old @ ("VersionTLS10" | "VersionTLS11")) => {
            messages
                .warn(format!("--tls-min-version={old} is not followed: nothing before TLS 1.2 is served"));
            Ok(false)
        }
        Some(other) => bail!("--tls-min-version {other:?}: it is VersionTLS12 or VersionTLS13"),
    }
}

fn access(flags: &AccessArgs) -> anyhow::Result<Access> {
    let authorities = |file: &Option<PathBuf>| match non_empty_path(file.clone()) {
        Some(file) => Authorities::File(file),
        None if flags.authentication_skip_lookup => Authorities::Nowhere,
        None => Authorities::Cluster,
    };
    for path in &flags.authorization_always_allow_paths {
        let is_inside = path.char_indices().any(|(at, letter)| letter == '*' && at + 1 != path.len());
        ensure!(!is_inside, "--authorization-always-allow-paths: only trailing * allowed in {path:?}");
    }
    Ok(Access {
        authentication_kubeconfig: non_empty_path(flags.authentication_kubeconfig.clone()),
        authorization_kubeconfig: non_empty_path(flags.authorization_kubeconfig.clone()),
        client_ca: authorities(&flags.client_ca_file),
        proxy_ca: authorities(&flags.requestheader_client_ca_file),
        headers: Headers {
            allowed_names: flags.requestheader_allowed_names.clone(),
            user: flags.requestheader_username_headers.clone(),
            uid: flags.requestheader_uid_headers.clone(),
            group: flags.requestheader_group_headers.clone(),
            extra_prefix: flags.requestheader_extra_headers_prefix.clone(),
        },
        is_lookup_failure_tolerated: flags.authentication_tolerate_lookup_failure,
        token_ttl: flags.authentication_token_webhook_cache_ttl.to_unsigned(),
        allowed_ttl: flags.authorization_webhook_cache_authorized_ttl.to_unsigned(),
        refused_ttl: flags.authorization_webhook_cache_unauthorized_ttl.to_unsigned(),
        open_paths: flags.authorization_always_allow_paths.clone(),
    })
}
