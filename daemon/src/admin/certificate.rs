//! The server's certificate: from files, or self-signed if none is given, as in kube-scheduler. Entry point: [`load`].

use crate::certificates;
use crate::config::Certificate;
use anyhow::Context as _;
use common::model::chain::chain;
use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;
use std::fs;
use std::path::Path;

/// kube-scheduler's file names in `--cert-dir`.
const PAIR: [&str; 2] = ["kube-scheduler.crt", "kube-scheduler.key"];

const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A certificate and its key, PEM.
struct Pair {
    certificate: String,
    key: String,
}

pub(super) fn load(source: &Certificate, provider: &CryptoProvider) -> anyhow::Result<CertifiedKey> {
    let pair = match source {
        Certificate::Files { certificate, key } => Pair { certificate: read(certificate)?, key: read(key)? },
        Certificate::Folder(folder) => load_or_create(folder)?,
        Certificate::Memory => create()?,
    };
    let chain = certificates::chain(pair.certificate.as_bytes(), "the certificate")?;
    let key = certificates::key(pair.key.as_bytes(), "the certificate's key")?;
    CertifiedKey::from_der(chain, key, provider).context("use the certificate with its key")
}

fn read(file: &Path) -> anyhow::Result<String> {
    fs::read_to_string(file).with_context(|| format!("read {}", file.display()))
}

/// The pair in the folder; else a new pair, which is stored there for the next start. If it cannot be stored, it is used until
/// the process ends.
fn load_or_create(folder: &Path) -> anyhow::Result<Pair> {
    let [certificate, key] = PAIR.map(|name| folder.join(name));
    if certificate.exists() && key.exists() {
        return Ok(Pair { certificate: read(&certificate)?, key: read(&key)? });
    }
    let pair = create()?;
    let written = fs::create_dir_all(folder)
        .and_then(|()| write_secret(&key, &pair.key))
        .and_then(|()| fs::write(&certificate, &pair.certificate));
    if let Err(error) = written {
        tracing::warn!("the certificate is not kept in {}: {}", folder.display(), chain(&error));
    }
    Ok(pair)
}

/// Writes a file that only the owner may read.
fn write_secret(file: &Path, text: &str) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    std::io::Write::write_all(&mut options.open(file)?, text.as_bytes())
}

fn create() -> anyhow::Result<Pair> {
    let created =
        rcgen::generate_simple_self_signed(NAMES.map(str::to_owned)).context("make a certificate")?;
    Ok(Pair { certificate: created.cert.pem(), key: created.signing_key.serialize_pem() })
}
