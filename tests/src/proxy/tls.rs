//! TLS on both sides of the proxy, with the certificates of the cluster.

use anyhow::{Context as _, Result};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig, crypto};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};

/// The TLS server for clients, and the TLS client for the API server.
pub(super) struct ProxyTls {
    acceptor: TlsAcceptor,
    connector: TlsConnector,
}

impl ProxyTls {
    /// Reads the API server's certificates in `dir`.
    pub(super) fn read(dir: &Path) -> Result<Self> {
        let certificate = |name: &str| {
            CertificateDer::from_pem_file(dir.join(name)).with_context(|| format!("read {name}"))
        };
        let key = PrivateKeyDer::from_pem_file(dir.join("server.key")).context("read server.key")?;
        let provider = Arc::new(crypto::ring::default_provider());
        let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate("server.crt")?], key)?;
        let mut roots = RootCertStore::empty();
        roots.add(certificate("ca.crt")?).context("trust ca.crt")?;
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { acceptor: Arc::new(server).into(), connector: Arc::new(client).into() })
    }

    /// Does the TLS handshake with a client.
    pub(super) async fn accept(&self, stream: TcpStream) -> Result<server::TlsStream<TcpStream>> {
        self.acceptor.accept(stream).await.context("shake hands with a client")
    }

    /// A connection to the API server.
    pub(super) async fn connect(&self, port: u16) -> Result<client::TlsStream<TcpStream>> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.context("reach the API server")?;
        stream.set_nodelay(true).context("reach the API server")?;
        let name = ServerName::try_from("127.0.0.1").context("name the API server")?;
        self.connector.connect(name, stream).await.context("shake hands with the API server")
    }
}
