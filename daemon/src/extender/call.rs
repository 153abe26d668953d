//! The HTTP client for one extender: address, timeout, TLS.
//!
//! As in kube-scheduler, with `enableHTTPS` and without a CA every server certificate is accepted.

use crate::certificates::{self, AnyCertificate};
use anyhow::{Context as _, bail, ensure};
use bytes::Bytes;
use common::config::{Extender, ExtenderTls};
use common::model::chain::chain;
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_pki_types::ServerName;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The most bytes of one answer: enough for five thousand whole nodes.
const ANSWER_LEN_MAX: usize = 128 << 20;

pub(crate) struct ExtenderClient {
    pub(crate) config: Extender,
    address: String,
    host: String,
    /// The path to which verbs are appended.
    path: String,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    deadline: Duration,
}

impl ExtenderClient {
    /// Checks the configuration of an extender and loads its certificates. Calls nothing yet.
    pub(crate) fn new(config: &Extender) -> anyhow::Result<Self> {
        let url: Uri =
            config.url_prefix.parse().with_context(|| format!("urlPrefix {:?}", config.url_prefix))?;
        let host = url.host().with_context(|| format!("urlPrefix {:?} has no host", config.url_prefix))?;
        let (is_tls, usual) = match url.scheme_str() {
            Some("https") => (true, 443),
            Some("http") => (false, 80),
            _ => bail!("urlPrefix {:?}: http and https are served", config.url_prefix),
        };
        let tls = if is_tls { Some((Arc::new(client(config)?), server_name(config, host)?)) } else { None };
        Ok(Self {
            config: config.clone(),
            address: format!("{host}:{}", url.port_u16().unwrap_or(usual)),
            host: url.authority().map(ToString::to_string).unwrap_or_default(),
            path: url.path().trim_end_matches('/').to_owned(),
            tls,
            deadline: Duration::try_from(config.http_timeout).unwrap_or_default(),
        })
    }

    pub(crate) async fn send(&self, verb: &str, body: String) -> Result<String, String> {
        let url = format!("{}/{verb}", self.config.url_prefix.trim_end_matches('/'));
        match tokio::time::timeout(self.deadline, self.exchange(verb, body)).await {
            Ok(Ok((StatusCode::OK, text))) => Ok(text),
            Ok(Ok((code, _))) => {
                Err(format!("failed {verb} with extender at URL {url}, code {}", code.as_u16()))
            }
            Ok(Err(error)) => Err(format!("Post {url:?}: {}", chain(&*error))),
            Err(_) => Err(format!("Post {url:?}: context deadline exceeded")),
        }
    }

    async fn exchange(&self, verb: &str, body: String) -> anyhow::Result<(StatusCode, String)> {
        let stream =
            TcpStream::connect(&self.address).await.with_context(|| format!("dial tcp {}", self.address))?;
        stream.set_nodelay(true)?;
        let request = Request::post(format!("{}/{verb}", self.path))
            .header(header::HOST, &self.host)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))?;
        match &self.tls {
            None => send_request(stream, request).await,
            Some((config, name)) => {
                let stream = TlsConnector::from(Arc::clone(config)).connect(name.clone(), stream).await?;
                send_request(stream, request).await
            }
        }
    }
}

async fn send_request(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    request: Request<Full<Bytes>>,
) -> anyhow::Result<(StatusCode, String)> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let ask = async {
        let response = sender.send_request(request).await?;
        let code = response.status();
        let body = Limited::new(response.into_body(), ANSWER_LEN_MAX).collect().await;
        let body = body.map_err(anyhow::Error::from_boxed)?.to_bytes();
        Ok((code, String::from_utf8(body.into()).context("read the answer")?))
    };
    let drive = async {
        // The result of the connection does not matter: the answer, or its absence, says enough.
        let _ = connection.await;
        std::future::pending().await
    };
    tokio::select! {
        biased;
        answer = ask => answer,
        () = drive => bail!("the connection ended"),
    }
}

fn server_name(config: &Extender, host: &str) -> anyhow::Result<ServerName<'static>> {
    let named = config.tls.as_ref().map(|tls| tls.server_name.as_str()).filter(|name| !name.is_empty());
    let name = named.unwrap_or(host.trim_start_matches('[').trim_end_matches(']')).to_owned();
    ServerName::try_from(name.clone()).with_context(|| format!("serverName {name:?}"))
}

fn client(config: &Extender) -> anyhow::Result<ClientConfig> {
    let usual = ExtenderTls::default();
    let tls = config.tls.as_ref().unwrap_or(&usual);
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .context("set up TLS")?;
    let authorities = pem(tls.ca_data.bytes(), &tls.ca_file)?;
    let is_open = tls.insecure || config.enable_https && authorities.is_none();
    let builder = match authorities {
        _ if is_open => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        }
        Some(authorities) => {
            builder.with_root_certificates(certificates::authorities(&authorities, "caFile")?)
        }
        None => bail!("{}: https without a CA; set tlsConfig.caFile", config.url_prefix),
    };
    let certificate = pem(tls.cert_data.bytes(), &tls.cert_file)?;
    let key = pem(tls.key_data.bytes(), &tls.key_file)?;
    ensure!(
        certificate.is_some() == key.is_some(),
        "{}: certFile and keyFile go together",
        config.url_prefix
    );
    let (Some(certificate), Some(key)) = (certificate, key) else { return Ok(builder.with_no_client_auth()) };
    let key = certificates::key(&key, "keyFile")?;
    builder
        .with_client_auth_cert(certificates::chain(&certificate, "certFile")?, key)
        .context("use certFile and keyFile")
}

/// The PEM data, or the content of the file; data goes first.
fn pem(data: &[u8], file: &str) -> anyhow::Result<Option<Vec<u8>>> {
    match (data, file) {
        ([], "") => Ok(None),
        ([], file) => std::fs::read(Path::new(file)).map(Some).with_context(|| format!("read {file}")),
        (data, _) => Ok(Some(data.to_vec())),
    }
}
