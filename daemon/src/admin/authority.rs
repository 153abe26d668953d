//! Who signs the certificates of clients: files, or what the cluster's API server publishes for its like.

use crate::config::{Access, Authorities, CALL_DEADLINE, Headers};
use anyhow::Context as _;
use arc_swap::ArcSwap;
use common::model::chain::chain;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use rustls::RootCertStore;
use rustls::crypto::ring;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, UnixTime};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where the API server says whom to believe.
const NAMESPACE: &str = "kube-system";
const CONFIG_MAP: &str = "extension-apiserver-authentication";

/// Whose certificates are believed now.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Of clients.
    pub(super) clients: Option<Signer>,
    /// Of proxies that name users in headers.
    pub(super) proxies: Option<Signer>,
    /// Which headers.
    pub(super) headers: Headers,
}

/// Certificate authorities.
#[derive(Debug, Clone)]
pub(super) struct Signer {
    verifier: Arc<dyn ClientCertVerifier>,
}

impl Signer {
    fn from_pem(pem: &str) -> anyhow::Result<Self> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            roots
                .add(certificate.context("read a certificate authority")?)
                .context("use a certificate authority")?;
        }
        let provider = Arc::new(ring::default_provider());
        let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        Ok(Self { verifier: builder.build().context("use the certificate authorities")? })
    }

    /// Whether one of them signed this for a client, and it is good at `now`.
    pub(super) fn signed(&self, certificates: &[CertificateDer<'_>], now: UnixTime) -> bool {
        let Some((first, others)) = certificates.split_first() else { return false };
        self.verifier.verify_client_cert(first, others, now).is_ok()
    }
}

/// Finds out whose certificates are believed, again and again.
pub(super) struct Lookup {
    access: Access,
    client: Option<kube::Client>,
    known: Arc<ArcSwap<Known>>,
    /// Once is enough.
    has_complained: AtomicBool,
}

impl Lookup {
    /// Has not looked yet: a cluster that does not answer must not keep probes waiting.
    pub(super) fn new(access: &Access, client: Option<kube::Client>) -> Self {
        Self { access: access.clone(), client, known: Arc::default(), has_complained: AtomicBool::new(false) }
    }

    /// Looks for the first time, if what is not found then is a reason not to start.
    pub(super) async fn insist(&self) -> anyhow::Result<()> {
        if !self.is_tolerable() {
            self.known.store(Arc::new(self.look().await?));
        }
        Ok(())
    }

    /// Whose certificates are believed, as of the last look.
    pub(super) fn known(&self) -> Arc<ArcSwap<Known>> {
        Arc::clone(&self.known)
    }

    /// Looks again. What was known stays known while nobody answers.
    pub(super) async fn refresh(&self) {
        match self.look().await {
            Ok(known) => self.known.store(Arc::new(known)),
            Err(error) if !self.has_complained.swap(true, Ordering::Relaxed) => tracing::warn!(
                "certificates of clients are not believed until their authorities can be read: {}",
                chain(&*error)
            ),
            Err(error) => {
                tracing::debug!("whose certificates are believed stays as it was: {}", chain(&*error));
            }
        }
    }

    /// A file that was named must be there.
    fn is_tolerable(&self) -> bool {
        let is_file = |of: &Authorities| matches!(of, Authorities::File(_));
        let is_named = is_file(&self.access.client_ca) || is_file(&self.access.proxy_ca);
        self.access.is_lookup_failure_tolerated && !is_named
    }

    async fn look(&self) -> anyhow::Result<Known> {
        let is_asked = [&self.access.client_ca, &self.access.proxy_ca].contains(&&Authorities::Cluster);
        let published = if is_asked { self.published().await? } else { BTreeMap::new() };
        let headers = match &self.access.proxy_ca {
            Authorities::Cluster => headers(&published),
            Authorities::File(_) | Authorities::Nowhere => self.access.headers.clone(),
        };
        Ok(Known {
            clients: signer(&self.access.client_ca, published.get("client-ca-file"))?,
            proxies: signer(&self.access.proxy_ca, published.get("requestheader-client-ca-file"))?,
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

fn signer(of: &Authorities, published: Option<&String>) -> anyhow::Result<Option<Signer>> {
    match (of, published) {
        (Authorities::File(file), _) => Ok(Some(Signer::from_pem(&read(file)?)?)),
        (Authorities::Cluster, Some(pem)) => Ok(Some(Signer::from_pem(pem)?)),
        (Authorities::Cluster, None) | (Authorities::Nowhere, _) => Ok(None),
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("read {}", file.display()))
}

/// The headers that the cluster's proxies use: JSON lists.
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
