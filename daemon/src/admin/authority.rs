//! The certificate authorities of clients and proxies: from files, or from the ConfigMap that the API server publishes for
//! extension API servers. Entry point: [`Lookup`].

use crate::certificates;
use crate::config::{Access, Authorities, CALL_DEADLINE, Headers};
use anyhow::Context as _;
use arc_swap::ArcSwap;
use common::model::chain::chain;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use rustls::crypto::ring;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls_pki_types::{CertificateDer, UnixTime};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The ConfigMap in which the API server publishes its CAs.
const NAMESPACE: &str = "kube-system";
const CONFIG_MAP: &str = "extension-apiserver-authentication";

#[derive(Debug, Default)]
pub(super) struct TrustedAuthorities {
    pub(super) clients: Option<CaVerifier>,
    pub(super) proxies: Option<CaVerifier>,
    pub(super) headers: Headers,
}

/// Verifies client certificates against some CAs.
#[derive(Debug, Clone)]
pub(super) struct CaVerifier {
    verifier: Arc<dyn ClientCertVerifier>,
}

impl CaVerifier {
    fn from_pem(pem: &str) -> anyhow::Result<Self> {
        let roots = certificates::authorities(pem.as_bytes(), "a certificate authority")?;
        let provider = Arc::new(ring::default_provider());
        let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        Ok(Self { verifier: builder.build().context("use the certificate authorities")? })
    }

    /// Whether one of the CAs signed this client certificate, and it is valid at `now`.
    pub(super) fn has_signed(&self, certificates: &[CertificateDer<'_>], now: UnixTime) -> bool {
        let Some((first, others)) = certificates.split_first() else { return false };
        self.verifier.verify_client_cert(first, others, now).is_ok()
    }
}

/// Reads the CAs, again and again.
pub(super) struct Lookup {
    access: Access,
    client: Option<kube::Client>,
    trusted: Arc<ArcSwap<TrustedAuthorities>>,
    /// Whether a failure was logged as a warning, so that it is logged only once.
    has_warned: AtomicBool,
}

impl Lookup {
    /// Does not read anything yet: a cluster that does not answer must not delay probes.
    pub(super) fn new(access: &Access, client: Option<kube::Client>) -> Self {
        Self { access: access.clone(), client, trusted: Arc::default(), has_warned: AtomicBool::new(false) }
    }

    /// Reads the CAs once, unless a failure is tolerated. An error is a reason not to start.
    pub(super) async fn look_up_required(&self) -> anyhow::Result<()> {
        if !self.is_failure_tolerated() {
            self.trusted.store(Arc::new(self.look_up().await?));
        }
        Ok(())
    }

    /// The CAs as they were last read.
    pub(super) fn trusted(&self) -> Arc<ArcSwap<TrustedAuthorities>> {
        Arc::clone(&self.trusted)
    }

    /// Reads the CAs again. After a failure those that were read before stay trusted.
    pub(super) async fn refresh(&self) {
        match self.look_up().await {
            Ok(trusted) => self.trusted.store(Arc::new(trusted)),
            Err(error) if !self.has_warned.swap(true, Ordering::Relaxed) => tracing::warn!(
                "certificates of clients are not believed until their authorities can be read: {}",
                chain(&*error)
            ),
            Err(error) => {
                tracing::debug!("whose certificates are believed stays as it was: {}", chain(&*error));
            }
        }
    }

    /// Whether to start although the CAs cannot be read. A file that a flag names must exist.
    fn is_failure_tolerated(&self) -> bool {
        let is_file = |of: &Authorities| matches!(of, Authorities::File(_));
        let is_named = is_file(&self.access.client_ca) || is_file(&self.access.proxy_ca);
        self.access.is_lookup_failure_tolerated && !is_named
    }

    async fn look_up(&self) -> anyhow::Result<TrustedAuthorities> {
        let is_asked = [&self.access.client_ca, &self.access.proxy_ca].contains(&&Authorities::Cluster);
        let published = if is_asked { self.published().await? } else { BTreeMap::new() };
        let headers = match &self.access.proxy_ca {
            Authorities::Cluster => headers(&published),
            Authorities::File(_) | Authorities::Nowhere => self.access.headers.clone(),
        };
        Ok(TrustedAuthorities {
            clients: ca_verifier(&self.access.client_ca, published.get("client-ca-file"))?,
            proxies: ca_verifier(&self.access.proxy_ca, published.get("requestheader-client-ca-file"))?,
            headers,
        })
    }

    async fn published(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let Some(client) = &self.client else { return Ok(BTreeMap::new()) };
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
        let map = tokio::time::timeout(CALL_DEADLINE, maps.get(CONFIG_MAP)).await;
        let map = map.context("no answer from the API server")?;
        Ok(map.with_context(|| format!("read configmap {NAMESPACE}/{CONFIG_MAP}"))?.data.unwrap_or_default())
    }
}

fn ca_verifier(of: &Authorities, published: Option<&String>) -> anyhow::Result<Option<CaVerifier>> {
    match (of, published) {
        (Authorities::File(file), _) => Ok(Some(CaVerifier::from_pem(&read(file)?)?)),
        (Authorities::Cluster, Some(pem)) => Ok(Some(CaVerifier::from_pem(pem)?)),
        (Authorities::Cluster, None) | (Authorities::Nowhere, _) => Ok(None),
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("read {}", file.display()))
}

/// The headers of the cluster's proxies, which the ConfigMap has as JSON lists.
fn headers(published: &BTreeMap<String, String>) -> Headers {
    let list = |key: &str| {
        let text = published.get(key).map_or("[]", String::as_str);
        serde_json::from_str::<Vec<String>>(text).unwrap_or_default()
    };
    Headers {
        allowed_names: list("requestheader-allowed-names"),
        user: list("requestheader-username-headers"),
        uid: list("requestheader-uid-headers"),
        group: list("requestheader-group-headers"),
        extra_prefix: list("requestheader-extra-headers-prefix"),
    }
}
