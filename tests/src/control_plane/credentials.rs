//! Certificates, tokens and kubeconfig files of one cluster. Each cluster gets new ones.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use kube::{Client, Config};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose};

use super::users::User;

/// The server's address, its CA and the token of each user.
#[derive(Debug)]
pub(super) struct Credentials {
    server: String,
    ca_der: Vec<u8>,
    tokens: BTreeMap<User, String>,
    dir: PathBuf,
}

impl Credentials {
    /// Writes all files into `dir`, for an API server on `port`.
    pub(super) fn write(dir: &Path, port: u16, kubelet_of: &str) -> Result<Self> {
        let ca_der = write_certificates(dir).context("make certificates")?;
        let tokens = User::ALL.into_iter().map(|user| (user, random_word())).collect();
        let server = format!("https://127.0.0.1:{port}");
        let credentials = Self { server, ca_der, tokens, dir: dir.to_owned() };
        let mut table = String::new();
        for (user, token) in &credentials.tokens {
            let (name, word, group) =
                (user.name(kubelet_of), user.short_name(), user.group().unwrap_or_default());
            table.push_str(&format!("{token},{name},{word},\"{group}\"\n"));
            fs::write(credentials.kubeconfig(*user), credentials.kubeconfig_text(word, token))
                .with_context(|| format!("write the kubeconfig of {word}"))?;
        }
        fs::write(dir.join("tokens.csv"), table).context("write the token file")?;
        Ok(credentials)
    }

    /// The kubeconfig file of a user.
    pub(super) fn kubeconfig(&self, user: User) -> PathBuf {
        self.dir.join(format!("{}.kubeconfig", user.short_name()))
    }

    /// A client of `user`. It never retries by itself, and its User-Agent names the user.
    pub(super) fn client(&self, user: User) -> Result<Client> {
        let token = self.tokens.get(&user).context("a user without a token")?;
        self.client_with(token, user.short_name())
    }

    /// A client with this token.
    pub(super) fn client_with(&self, token: &str, word: &str) -> Result<Client> {
        let mut config = Config::new(self.server.parse().context("read the server's address")?);
        config.root_cert = Some(vec![self.ca_der.clone()]);
        config.auth_info.token = Some(token.to_owned().into());
        // Tests want to see refusals; by default the client would retry a 429 for minutes.
        config.default_retry = false;
        let agent = format!("reserve-tests/{word}").parse().context("make a user agent")?;
        config.headers.push((http::header::USER_AGENT, agent));
        Client::try_from(config).context("make a client")
    }

    /// The port of the API server.
    pub(super) fn port(&self) -> Result<u16> {
        let port = self.server.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        port.with_context(|| format!("no port in {}", self.server))
    }

    /// The text of a kubeconfig file with this token.
    pub(super) fn kubeconfig_text(&self, word: &str, token: &str) -> String {
        let (server, ca) = (&self.server, self.dir.join("ca.crt"));
        let ca = serde_json::Value::from(ca.to_string_lossy());
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: test\n\
             clusters:\n- name: test\n  cluster: {{server: \"{server}\", certificate-authority: {ca}}}\n\
             users:\n- name: {word}\n  user: {{token: {token}}}\n\
             contexts:\n- name: test\n  context: {{cluster: test, user: {word}, namespace: default}}\n"
        )
    }
}

/// Writes `ca.crt`, `server.crt`, `server.key`, `accounts.key` and `accounts.pub`; returns the CA as DER.
fn write_certificates(dir: &Path) -> Result<Vec<u8>> {
    let mut authority = CertificateParams::new(vec![])?;
    authority.distinguished_name.push(DnType::CommonName, "reserve-tests");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;

    let server_key = KeyPair::generate()?;
    let names = ["127.0.0.1", "localhost", "kubernetes.default.svc"].map(String::from);
    let server = CertificateParams::new(names)?.signed_by(&server_key, &authority)?;
    let accounts = KeyPair::generate()?;

    fs::write(dir.join("ca.crt"), authority.pem())?;
    fs::write(dir.join("server.crt"), server.pem())?;
    fs::write(dir.join("server.key"), server_key.serialize_pem())?;
    fs::write(dir.join("accounts.key"), accounts.serialize_pem())?;
    fs::write(dir.join("accounts.pub"), accounts.public_key_pem())?;
    Ok(authority.der().to_vec())
}

/// 128 random bits: the standard library seeds each hasher from the system's randomness.
fn random_word() -> String {
    let bits = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", bits(), bits())
}
