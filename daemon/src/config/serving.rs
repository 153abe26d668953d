//! How health and metrics are served, and who may see them: the flags, checked.

use super::{Said, SignedDurationExt as _, set};
use crate::args::{AccessArgs, Args};
use anyhow::{Context as _, bail, ensure};
use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// kube-scheduler's port.
pub(super) const PORT: u16 = 10259;

/// Where health and metrics are served.
#[derive(Debug, Clone)]
pub struct Serving {
    /// Where to listen.
    pub address: SocketAddr,
    /// Whether others may listen there too.
    pub is_port_shared: bool,
    /// What the server shows.
    pub certificate: Certificate,
    /// Whether TLS 1.2 is too old.
    pub is_tls13_only: bool,
    /// The suites of TLS 1.2 that may be used; empty: all that are safe.
    pub cipher_suites: Vec<String>,
    /// Who may see what.
    pub access: Access,
}

/// Where the server's certificate is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Certificate {
    /// Two files, read again when they change.
    Files {
        /// The certificate and those that it was signed with.
        certificate: PathBuf,
        /// Its key.
        key: PathBuf,
    },
    /// A certificate of our own, put into this folder for the next start.
    Folder(PathBuf),
    /// A certificate of our own that ends with the process.
    Memory,
}

/// Who may see what.
#[derive(Debug, Clone)]
pub struct Access {
    /// The cluster that knows who somebody is; `None`: the pod's own.
    pub authentication_kubeconfig: Option<PathBuf>,
    /// The cluster that knows who may do what; `None`: the pod's own.
    pub authorization_kubeconfig: Option<PathBuf>,
    /// Who signs the certificates of clients.
    pub client_ca: Authorities,
    /// Who signs the certificates of proxies.
    pub proxy_ca: Authorities,
    /// Which headers of proxies mean what; as the cluster says unless a file names the proxies' authority.
    pub headers: Headers,
    /// Whether to start although the cluster's authorities cannot be read.
    pub is_lookup_failure_tolerated: bool,
    /// How long answers about tokens are remembered.
    pub token_ttl: Duration,
    /// How long permissions are remembered.
    pub allowed_ttl: Duration,
    /// How long refusals are remembered.
    pub refused_ttl: Duration,
    /// Paths that everybody may see; a last `*` stands for anything.
    pub open_paths: Vec<String>,
}

/// Where certificate authorities are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authorities {
    /// In a file.
    File(PathBuf),
    /// In the cluster.
    Cluster,
    /// Nowhere: no certificate is believed.
    Nowhere,
}

/// Which headers of a proxy name a user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers {
    /// Names in the certificates of proxies that are believed; empty: all.
    pub allowed_names: Vec<String>,
    /// The user's name.
    pub user: Vec<String>,
    /// The user's UID.
    pub uid: Vec<String>,
    /// The user's groups.
    pub group: Vec<String>,
    /// What headers with more about the user begin with.
    pub extra_prefix: Vec<String>,
}

impl Serving {
    /// What `args` ask for; `None` if nothing is to be served.
    pub(super) fn new(args: &Args, said: &mut Said) -> anyhow::Result<Option<Self>> {
        let flags = &args.serving;
        let serving = Self {
            address: SocketAddr::new(flags.bind_address, flags.secure_port),
            is_port_shared: flags.permit_port_sharing,
            certificate: certificate(args)?,
            is_tls13_only: is_tls13_only(flags.tls_min_version.as_deref(), said)?,
            cipher_suites: flags.tls_cipher_suites.iter().filter(|name| !name.is_empty()).cloned().collect(),
            access: access(&args.access)?,
        };
        Ok((flags.secure_port != 0).then_some(serving))
    }
}

/// Where probes are served besides. As Go writes it, `:8081` means all addresses; `0` means nowhere.
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
    match (set(flags.tls_cert_file.clone()), set(flags.tls_private_key_file.clone())) {
        (Some(certificate), Some(key)) => Ok(Certificate::Files { certificate, key }),
        (None, None) => Ok(set(flags.cert_dir.clone()).map_or(Certificate::Memory, Certificate::Folder)),
        _ => bail!("--tls-cert-file and --tls-private-key-file go together"),
    }
}

fn is_tls13_only(version: Option<&str>, said: &mut Said) -> anyhow::Result<bool> {
    match version {
        None | Some("" | "VersionTLS12") => Ok(false),
        Some("VersionTLS13") => Ok(true),
        Some(old @ ("VersionTLS10" | "VersionTLS11")) => {
            said.warn(format!("--tls-min-version={old} is not followed: nothing before TLS 1.2 is served"));
            Ok(false)
        }
        Some(other) => bail!("--tls-min-version {other:?}: it is VersionTLS12 or VersionTLS13"),
    }
}

fn access(flags: &AccessArgs) -> anyhow::Result<Access> {
    let authorities = |file: &Option<PathBuf>| match set(file.clone()) {
        Some(file) => Authorities::File(file),
        None if flags.authentication_skip_lookup => Authorities::Nowhere,
        None => Authorities::Cluster,
    };
    for path in &flags.authorization_always_allow_paths {
        let is_inside = path.char_indices().any(|(at, letter)| letter == '*' && at + 1 != path.len());
        ensure!(!is_inside, "--authorization-always-allow-paths: only trailing * allowed in {path:?}");
    }
    Ok(Access {
        authentication_kubeconfig: set(flags.authentication_kubeconfig.clone()),
        authorization_kubeconfig: set(flags.authorization_kubeconfig.clone()),
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
