//! TLS of the server: version 1.2 or newer, a certificate that can be replaced, and optional client certificates.
//!
//! The handshake only proves that the client has the key of its certificate. Whether a trusted CA signed the certificate is
//! checked for each request, because the trusted CAs can change.

use super::certificate;
use crate::certificates::AnyCertificate;
use crate::config::{Certificate, Serving};
use anyhow::{Context as _, bail};
use arc_swap::ArcSwap;
use common::model::chain::chain;
use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
#[cfg(test)]
use rustls_pki_types::CertificateDer;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

pub(super) struct AdminTls {
    acceptor: TlsAcceptor,
    resolver: Arc<CertificateResolver>,
    source: Certificate,
    provider: Arc<CryptoProvider>,
}

impl AdminTls {
    pub(super) fn new(serving: &Serving) -> anyhow::Result<Self> {
        let provider = Arc::new(provider(&serving.cipher_suites)?);
        let key = certificate::load(&serving.certificate, &provider)?;
        let resolver = Arc::new(CertificateResolver { key: ArcSwap::from_pointee(key) });
        let versions: &[_] = if serving.is_tls13_only {
            &[&rustls::version::TLS13]
        } else {
            &[&rustls::version::TLS13, &rustls::version::TLS12]
        };
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .context("set up TLS")?
            .with_client_cert_verifier(Arc::new(AnyCertificate(Arc::clone(&provider))))
            .with_cert_resolver(Arc::<CertificateResolver>::clone(&resolver));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let source = serving.certificate.clone();
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), resolver, source, provider })
    }

    pub(super) async fn accept(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        self.acceptor.accept(stream).await
    }

    #[cfg(test)]
    pub(super) fn certificate(&self) -> CertificateDer<'static> {
        self.resolver.key.load().cert[0].clone()
    }

    /// Reads the certificate's files again. While only one file of the new pair is there, the old pair stays.
    pub(super) fn refresh(&self) {
        if !matches!(self.source, Certificate::Files { .. }) {
            return;
        }
        match certificate::load(&self.source, &self.provider) {
            Ok(key) => self.resolver.key.store(Arc::new(key)),
            Err(error) => tracing::warn!("the certificate stays as it was: {}", chain(&*error)),
        }
    }
}

/// The cipher suites of ring, for TLS 1.2 only those in `names`. The suites of TLS 1.3 cannot be chosen, as in Go.
fn provider(names: &[String]) -> anyhow::Result<CryptoProvider> {
    let mut provider = ring::default_provider();
    if names.is_empty() {
        return Ok(provider);
    }
    if let Some(unknown) = names.iter().find(|name| !name.starts_with("TLS_")) {
        bail!("--tls-cipher-suites: {unknown:?} is no cipher suite");
    }
    provider.cipher_suites.retain(|suite| {
        let name = format!("{:?}", suite.suite());
        name.starts_with("TLS13_")
            || names.iter().any(|wanted| *wanted == name || format!("{wanted}_SHA256") == name)
    });
    Ok(provider)
}

/// Gives the current certificate to rustls.
#[derive(Debug)]
struct CertificateResolver {
    key: ArcSwap<CertifiedKey>,
}

impl ResolvesServerCert for CertificateResolver {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.key.load_full())
    }
}
