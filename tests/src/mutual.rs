//! Files for mutual TLS between kube-scheduler and the daemon as its extender, made for one test.

use anyhow::Result;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::path::Path;

/// Writes a certificate authority and a certificate for each side into `dir`. Returns the daemon's flags, and the fields for
/// kube-scheduler's list of extenders.
///
/// # Errors
/// When a file cannot be made.
pub fn certificates(dir: &Path) -> Result<(Vec<String>, String)> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let write = |name: &str, text: String| -> Result<String> {
        let file = dir.join(name);
        std::fs::write(&file, text)?;
        Ok(file.display().to_string())
    };
    let ca = write("ca.crt", authority.pem())?;
    let mut pairs = Vec::new();
    for name in ["server", "client"] {
        let key = KeyPair::generate()?;
        let names = vec!["reserve-extender.kube-reserve.svc".to_owned()];
        let certificate = CertificateParams::new(names)?.signed_by(&key, &authority)?;
        let certificate = write(&format!("{name}.crt"), certificate.pem())?;
        pairs.push((certificate, write(&format!("{name}.key"), key.serialize_pem())?));
    }
    let (server, client) = (&pairs[0], &pairs[1]);
    let daemon = vec![
        format!("--extender-cert-file={}", server.0),
        format!("--extender-key-file={}", server.1),
        format!("--extender-client-ca-file={ca}"),
    ];
    let scheduler = format!(
        "enableHTTPS: true, tlsConfig: {{serverName: reserve-extender.kube-reserve.svc, caFile: '{ca}', certFile: '{}', keyFile: '{}'}}",
        client.0, client.1
    );
    Ok((daemon, scheduler))
}
