//! Makes a client from flags, environment and kubeconfig, by kubectl's rules. Entry points: `connect`, and `connect_silently` for
//! completion. The result is a `Session`.

mod credential;
mod environment;
mod exec;
mod flags;
pub(crate) mod kubeconfig;
mod proxy;
mod service;
#[cfg(test)]
mod tests;

use crate::cli::Connection;
use crate::error::{Exit, Failure};
use common::api::replica::DaemonNamespaces;
use common::model::chain::chain;
use credential::Credential;
pub(crate) use environment::Environment;
use http::uri::Authority;
use http::{HeaderValue, Uri, header};
use kube::config::{AuthInfo, Cluster, ExecAuthCluster};
use kubeconfig::ResolvedContext;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use service::{RequestLog, Service};
use std::time::Duration;

#[derive(Clone)]
pub(crate) struct Session {
    /// The client. It sends each request once.
    pub(crate) client: kube::Client,
    /// The namespace of `--namespace`, else that of the context.
    pub(crate) namespace: String,
    /// The host and port of the API server, for error messages.
    pub(crate) server: String,
    /// How long a request may take.
    pub(crate) timeout: Option<Duration>,
    /// The namespaces of the daemon: Leases of replicas elsewhere are not believed.
    pub(crate) daemon: DaemonNamespaces,
}

/// Connects as the flags say. A credential plugin may use the terminal meanwhile, so nothing else should.
pub(crate) async fn connect(flags: &Connection, verbosity: u8) -> Result<Session, Failure> {
    connect_with(flags, &Environment::read(), verbosity).await
}

/// Connects for shell completion: credential plugins may neither read the terminal nor print to it.
pub(crate) async fn connect_silently(flags: &Connection) -> Result<Session, Failure> {
    let environment = Environment { is_silent: true, ..Environment::read() };
    connect_with(flags, &environment, 0).await
}

async fn connect_with(
    flags: &Connection,
    environment: &Environment,
    verbosity: u8,
) -> Result<Session, Failure> {
    let timeout = flags::timeout(&flags.request_timeout)?;
    let (mut config, credential) = match kubeconfig::resolve(flags, environment)? {
        Some(context) => configure(context, environment).await?,
        // Only when there is no kubeconfig at all: a broken one must not make us act on another cluster.
        None => in_cluster(flags, environment)?,
    };
    if let Some(namespace) = &flags.namespace {
        if !is_name(namespace) {
            return Err(Failure::usage(format!("--namespace {namespace:?} is not the name of a namespace")));
        }
        config.default_namespace.clone_from(namespace);
    }
    let daemon = daemon(flags)?;
    let agent = concat!("kubectl-reserve/", env!("CARGO_PKG_VERSION"));
    config.headers.push((header::USER_AGENT, HeaderValue::from_static(agent)));
    config.default_retry = false;
    let (namespace, log) =
        (config.default_namespace.clone(), RequestLog::new(&config.cluster_url, verbosity));
    let server = config.cluster_url.authority().map(host_and_port).unwrap_or_default().to_owned();
    let client = kube::Client::try_from(config)
        .map_err(|error| Failure::new(format!("connect: {}", chain(&error))))?;
    let client = kube::Client::new(Service::new(client, credential, log), namespace.clone());
    Ok(Session { client, namespace, server, timeout, daemon })
}

/// The address in a URL, without the password that may stand before it.
fn host_and_port(authority: &Authority) -> &str {
    let text = authority.as_str();
    text.rsplit_once('@').map_or(text, |(_, host)| host)
}

/// The namespaces whose Leases are believed: that of `--daemon-namespace`, else the default ones.
pub(crate) fn daemon(flags: &Connection) -> Result<DaemonNamespaces, Failure> {
    match flags.daemon_namespace.as_deref() {
        None => Ok(DaemonNamespaces::default()),
        Some(namespace) if is_name(namespace) => Ok(DaemonNamespaces::only(namespace)),
        Some(namespace) => {
            Err(Failure::usage(format!("--daemon-namespace {namespace:?} is not the name of a namespace")))
        }
    }
}

/// Whether `text` is a valid name of an object. Names become parts of URLs, so they are checked before.
pub(crate) fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.');
    (1..=253).contains(&text.len()) && text.bytes().all(allowed) && !text.starts_with(['.', '-'])
}

/// The client configuration for a context. It is made here because kube's own loader does not read proxies as kubectl does.
async fn configure(
    context: ResolvedContext,
    environment: &Environment,
) -> Result<(kube::Config, Option<Credential>), Failure> {
    let ResolvedContext { cluster, mut user, namespace } = context;
    let server = cluster.server.as_deref().unwrap_or_default();
    let url = flags::server_url(server, has_tls(&cluster, &user))?;
    let mut config = kube::Config::new(url.clone());
    config.proxy_url = proxy::choose(&url, cluster.proxy_url.as_deref(), environment)?;
    config.accept_invalid_certs = cluster.insecure_skip_tls_verify.unwrap_or(false);
    config.root_cert = authority(&cluster)?.filter(|_| !config.accept_invalid_certs);
    config.tls_server_name = cluster.tls_server_name.clone().filter(|name| !name.is_empty());
    config.default_namespace = namespace;
    let credential = match user.exec.take() {
        Some(plugin) => Some(Credential::ask(plugin, &cluster, &mut user, environment.is_silent).await?),
        None => None,
    };
    config.auth_info = user;
    Ok((config, credential))
}

fn has_tls(cluster: &Cluster, user: &AuthInfo) -> bool {
    cluster.certificate_authority.is_some()
        || cluster.certificate_authority_data.is_some()
        || cluster.insecure_skip_tls_verify == Some(true)
        || user.client_certificate.is_some()
        || user.client_certificate_data.is_some()
}

/// The certificates of the cluster's certificate authority.
fn authority(cluster: &Cluster) -> Result<Option<Vec<Vec<u8>>>, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(format!("certificate authority: {error}"));
    let pem = ExecAuthCluster::try_from(cluster).map_err(|error| failed(&chain(&error)))?;
    let Some(pem) = pem.certificate_authority_data else { return Ok(None) };
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let certificates = certificates.map_err(|error| failed(&error))?;
    if certificates.is_empty() {
        return Err(failed(&"there is no certificate in it"));
    }
    Ok(Some(certificates.iter().map(|certificate| certificate.to_vec()).collect()))
}

/// The configuration of a pod: its service account.
fn in_cluster(
    flags: &Connection,
    environment: &Environment,
) -> Result<(kube::Config, Option<Credential>), Failure> {
    let mut config = kube::Config::incluster().map_err(|_| no_kubeconfig(environment))?;
    flags::user(flags, &mut config.auth_info)?;
    Ok((config, None))
}

fn no_kubeconfig(environment: &Environment) -> Failure {
    let paths: Vec<String> = environment.kubeconfigs.iter().map(|path| path.display().to_string()).collect();
    let text = match &paths[..] {
        [] => "no kubeconfig found".to_owned(),
        [path] => format!("no kubeconfig found: {path} does not exist"),
        paths => format!("no kubeconfig found: none of {} exists", paths.join(", ")),
    };
    Failure::new(text).hint("pass --kubeconfig FILE, or set KUBECONFIG")
}

/// The error for an invalid URL.
fn bad_url(flag: &str, url: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("{flag} {url:?}: {error}")).exit(Exit::Usage)
}

fn parse_url(flag: &str, url: &str) -> Result<Uri, Failure> {
    url.parse().map_err(|error: http::uri::InvalidUri| bad_url(flag, url, &error))
}
