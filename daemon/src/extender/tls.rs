//! TLS for the extender server: our certificate and key, and optionally a CA of client certificates (mutual TLS). The files are
//! read again when they change.

use crate::certificates;
use crate::config::ExtenderFiles;
use anyhow::Context as _;
use arc_swap::ArcSwap;
use common::model::chain::chain;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::server::WebPkiClientVerifier;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

pub(crate) struct ExtenderServerTls {
    files: ExtenderFiles,
    config: ArcSwap<ServerConfig>,
    contents: Mutex<FileContents>,
}

#[derive(PartialEq, Eq)]
struct FileContents {
    certificate: Vec<u8>,
    key: Vec<u8>,
    client_ca: Option<Vec<u8>>,
}

impl ExtenderServerTls {
    /// TLS with these files.
    pub(crate) fn new(files: &ExtenderFiles) -> anyhow::Result<Self> {
        let contents = FileContents::read(files)?;
        let config = ArcSwap::from_pointee(contents.config()?);
        Ok(Self { files: files.clone(), config, contents: Mutex::new(contents) })
    }

    /// Whether only clients with a certificate of the right CA are accepted.
    pub(crate) fn is_mutual(&self) -> bool {
        self.files.client_ca.is_some()
    }

    pub(crate) async fn accept(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        TlsAcceptor::from(self.config.load_full()).accept(stream).await
    }

    /// Reads the files again. While the new files do not fit together, the old ones stay in use.
    pub(crate) fn refresh(&self) {
        let again = || {
            let contents = FileContents::read(&self.files)?;
            let mut known = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
            if *known != contents {
                self.config.store(Arc::new(contents.config()?));
                *known = contents;
            }
            anyhow::Ok(())
        };
        if let Err(error) = again() {
            tracing::warn!("the extender's certificates stay as they were: {}", chain(&*error));
        }
    }
}

impl FileContents {
    fn read(files: &ExtenderFiles) -> anyhow::Result<Self> {
        let read = |file: &Path| std::fs::read(file).with_context(|| format!("read {}", file.display()));
        Ok(Self {
            certificate: read(&files.certificate)?,
            key: read(&files.key)?,
            client_ca: files.client_ca.as_deref().map(read).transpose()?,
        })
    }

    fn config(&self) -> anyhow::Result<ServerConfig> {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .context("set up TLS")?;
        let builder = match &self.client_ca {
            None => builder.with_no_client_auth(),
            Some(authorities) => {
                let roots = certificates::authorities(authorities, "the clients' CA")?;
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build().context("use the clients' CA")?)
            }
        };
        let chain = certificates::chain(&self.certificate, "the extender's certificate")?;
        let key = certificates::key(&self.key, "the extender's key")?;
        let mut config =
            builder.with_single_cert(chain, key).context("use the extender's certificate with its key")?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}
