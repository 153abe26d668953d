//! Reads certificates and keys in PEM, for the servers and for the clients of extenders.

use anyhow::Context as _;
use rustls::RootCertStore;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// The certificate authorities in `pem`. Errors name them as `what`.
pub(crate) fn authorities(pem: &[u8], what: &str) -> anyhow::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(pem) {
        let authority = authority.with_context(|| format!("read {what}"))?;
        roots.add(authority).with_context(|| format!("use {what}"))?;
    }
    Ok(roots)
}

/// The certificate in `pem` and its chain. Errors name it as `what`.
pub(crate) fn chain(pem: &[u8], what: &str) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().with_context(|| format!("read {what}"))
}

/// The private key in `pem`. Errors name it as `what`.
pub(crate) fn key(pem: &[u8], what: &str) -> anyhow::Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::from_pem_slice(pem).with_context(|| format!("read {what}"))
}
