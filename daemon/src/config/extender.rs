//! How the extender is served: the flags, checked. Whoever may ask it learns where room is kept, and a false answer of
//! somebody in its place would stop a scheduler; so there is mutual TLS, or nobody but this machine can reach it.

use super::set;
use crate::args::ExtenderArgs;
use anyhow::{bail, ensure};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Where the extender is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtenderServing {
    /// Where to listen.
    pub address: SocketAddr,
    /// The files for TLS; `None`: without.
    pub files: Option<ExtenderFiles>,
    /// Whether it binds pods for those who ask.
    pub is_binding: bool,
}

/// The files for TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtenderFiles {
    /// The certificate.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// Who signs the certificates of those who may ask; `None`: anybody may.
    pub client_ca: Option<PathBuf>,
}

impl ExtenderServing {
    /// What the flags ask for; `None` if the extender is not to be served.
    pub(super) fn new(args: ExtenderArgs) -> anyhow::Result<Option<Self>> {
        let client_ca = set(args.extender_client_ca_file);
        let files = match (set(args.extender_cert_file), set(args.extender_key_file)) {
            (Some(certificate), Some(key)) => Some(ExtenderFiles { certificate, key, client_ca }),
            (None, None) => {
                ensure!(client_ca.is_none(), "--extender-client-ca-file needs --extender-cert-file");
                None
            }
            _ => bail!("--extender-cert-file and --extender-key-file go together"),
        };
        let Some(address) = args.extender_address else {
            ensure!(files.is_none(), "--extender-cert-file has no meaning without --extender-address");
            ensure!(
                args.extender_bind.is_none(),
                "--extender-bind has no meaning without --extender-address"
            );
            return Ok(None);
        };
        let is_closed = files.as_ref().is_some_and(|files| files.client_ca.is_some());
        ensure!(
            is_closed || address.ip().is_loopback(),
            "--extender-address {address}: anybody could ask there; pass --extender-cert-file, --extender-key-file and \
             --extender-client-ca-file, or a loopback address"
        );
        // On loopback anybody on this machine can ask: a pod of a tenant on the network of its host, for instance.
        Ok(Some(Self { address, files, is_binding: args.extender_bind.unwrap_or(is_closed) }))
    }
}
