//! Mutual TLS: a client without a certificate of the right CA is refused, and new files are used.

use super::super::tls::ExtenderServerTls;
use crate::config::ExtenderFiles;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;

pub(super) type Authority = CertifiedIssuer<'static, KeyPair>;

pub(super) fn authority() -> Authority {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate for localhost and its key, as PEM.
fn signed(by: &Authority) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    (params.signed_by(&key, by).unwrap().pem(), key.serialize_pem())
}

pub(super) fn write(dir: &Path, authority: &Authority) -> ExtenderFiles {
    let [certificate, key, client_ca] = ["tls.crt", "tls.key", "ca.crt"].map(|name| dir.join(name));
    let pair = signed(authority);
    std::fs::write(&certificate, pair.0).unwrap();
    std::fs::write(&key, pair.1).unwrap();
    std::fs::write(&client_ca, authority.pem()).unwrap();
    ExtenderFiles { certificate, key, client_ca: Some(client_ca) }
}

async fn write_byte(stream: &mut (impl AsyncWrite + Unpin)) -> std::io::Result<()> {
    std::future::poll_fn(|context| Pin::new(&mut *stream).poll_write(context, b"!")).await?;
    std::future::poll_fn(|context| Pin::new(&mut *stream).poll_flush(context)).await
}

async fn read_byte(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<()> {
    let mut bytes = [0; 1];
    let mut buffer = ReadBuf::new(&mut bytes);
    std::future::poll_fn(|context| Pin::new(&mut *stream).poll_read(context, &mut buffer)).await?;
    match buffer.filled().len() {
        1 => Ok(()),
        _ => Err(std::io::ErrorKind::UnexpectedEof.into()),
    }
}

/// A client that trusts the CA `server`, with a certificate of the CA `client`.
pub(super) fn client(server: &Authority, client: Option<&Authority>) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(server.der().clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match client.map(signed) {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
            builder
                .with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap())
                .unwrap()
        }
    };
    Arc::new(config)
}

/// Whether a client that trusts the CA `server`, with a certificate of the CA `by`, is accepted.
async fn is_heard(tls: &ExtenderServerTls, server: &Authority, by: Option<&Authority>) -> bool {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let config = client(server, by);
    let ask = async {
        let stream = TcpStream::connect(address).await?;
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = TlsConnector::from(config).connect(name, stream).await?;
        write_byte(&mut stream).await?;
        read_byte(&mut stream).await
    };
    let answer = async {
        let mut stream = tls.accept(listener.accept().await?.0).await?;
        read_byte(&mut stream).await?;
        write_byte(&mut stream).await
    };
    let (asked, _) = tokio::join!(ask, answer);
    asked.is_ok()
}

#[tokio::test]
async fn only_clients_of_the_authority_are_heard_and_files_may_change() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (authority(), authority());
    let files = write(dir.path(), &ours);
    let tls = ExtenderServerTls::new(&files).unwrap();
    assert!(is_heard(&tls, &ours, Some(&ours)).await);
    assert!(!is_heard(&tls, &ours, None).await, "without a certificate");
    assert!(!is_heard(&tls, &ours, Some(&theirs)).await, "with another's");
    std::fs::write(&files.key, "no key").unwrap();
    tls.refresh();
    assert!(is_heard(&tls, &ours, Some(&ours)).await, "half of a new pair is none");
    write(dir.path(), &theirs);
    tls.refresh();
    assert!(is_heard(&tls, &theirs, Some(&theirs)).await);
    assert!(!is_heard(&tls, &theirs, Some(&ours)).await, "the old authority is no longer believed");
}
