//! Checks the flags about the extender server. A client of the extender learns where room is reserved, and a server that
//! pretends to be the extender could stop a scheduler. So it needs mutual TLS, or an address that only this machine can reach.

use super::non_empty_path;
use crate::args::ExtenderArgs;
use anyhow::{bail, ensure};
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtenderServing {
    pub address: SocketAddr,
    /// The files for TLS; `None`: plain HTTP.
    pub files: Option<ExtenderFiles>,
    pub is_binding: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtenderFiles {
    /// The server's certificate, PEM.
    pub certificate: PathBuf,
    /// The key of the certificate, PEM.
    pub key: PathBuf,
    /// The CA of client certificates; `None`: every client may ask.
    pub client_ca: Option<PathBuf>,
}

impl ExtenderServing {
    /// Checks the flags; `None` if the extender is not served.
    pub(super) fn new(args: ExtenderArgs) -> anyhow::Result<Option<Self>> {
        let client_ca = non_empty_path(args.extender_client_ca_file);
        let files = match (non_empty_path(args.extender_cert_file), non_empty_path(args.extender_key_file)) {
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
        // On loopback every process on this machine can ask, for instance a tenant's pod with `hostNetwork`.
        Ok(Some(Self { address, files, is_binding: args.extender_bind.unwrap_or(is_closed) }))
    }
}
