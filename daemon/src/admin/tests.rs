//! The server over real TLS on loopback, with an API server that gives prepared answers.

mod access;
mod hostile;
mod probes;

use super::answer::AdminHandler;
use super::authenticate::Authenticator;
use super::authority::Lookup;
use super::authorize::Authorizer;
use super::resources::ResourceMetricsReader;
use super::serve::serve;
use super::tls::AdminTls;
use super::{Health, listen};
use crate::args::Args;
use crate::certificates::AnyCertificate;
use crate::clock::Clock;
use crate::config::{Config, Serving};
use crate::connections::Limits;
use crate::lease::Leadership;
use crate::metrics::Metrics;
use crate::testing::{RequestLog, ScriptedAnswer, scripted_client};
use clap::Parser as _;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use rustls::crypto::ring;
use rustls::{ClientConnection, StreamOwned};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use serde_json::json;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// How long a client waits for data.
const PATIENCE: Duration = Duration::from_secs(20);

/// The client side of a connection.
type Stream = StreamOwned<ClientConnection, TcpStream>;

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// A running server, which ends when this value is dropped.
struct Server {
    address: SocketAddr,
    health: Arc<Health>,
    authentications: RequestLog,
    authorizations: RequestLog,
    pods: RequestLog,
    _task: JoinSet<()>,
}

/// The answers of the API server, and the settings of the server.
#[derive(Default)]
struct Script {
    arguments: Vec<String>,
    authentication: Vec<ScriptedAnswer>,
    authorization: Vec<ScriptedAnswer>,
    /// Answers to lists of pods.
    pods: Vec<ScriptedAnswer>,
    limits: Limits,
}

/// A checked configuration; `more` overrides the defaults of these tests.
fn serving(more: &[String]) -> Serving {
    let defaults = ["reserve-daemon", "--bind-address=127.0.0.1"].map(str::to_owned);
    let args = Args::parse_from(defaults.iter().chain(more));
    Config::try_from(args).unwrap().serving.unwrap()
}

impl Script {
    fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    async fn start(self) -> Server {
        let serving = serving(&self.arguments);
        let (authentication, authentications) = scripted_client(self.authentication);
        let (authorization, authorizations) = scripted_client(self.authorization);
        let (reader, pods) = scripted_client(self.pods);
        let clock = Clock::start();
        let lookup = Lookup::new(&serving.access, Some(authentication.clone()));
        lookup.refresh().await;
        let health = Arc::new(Health::new(false, Leadership::for_ever()));
        let handler = Arc::new(AdminHandler {
            authenticator: Authenticator::new(
                &serving.access,
                Some(authentication),
                lookup.trusted(),
                clock.clone(),
            ),
            authorizer: Authorizer::new(&serving.access, Some(authorization), clock.clone()),
            configuration: json!({"kind": "KubeSchedulerConfiguration"}),
            health: Arc::clone(&health),
            metrics: Metrics::default(),
            resources: ResourceMetricsReader::new(reader, Arc::clone(&health)),
            clock,
        });
        let tls = AdminTls::new(&serving).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut task = JoinSet::new();
        let limits = self.limits;
        task.spawn(async move { serve(&listener, &tls, &handler, limits).await });
        Server { address, health, authentications, authorizations, pods, _task: task }
    }
}

impl Server {
    /// Connects, and sends bytes. Clients block, so each has its own thread; the server uses the test's thread.
    async fn send(&self, identity: Option<&Identity>, bytes: &[u8]) -> Stream {
        let builder = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(Arc::new(ring::default_provider()))));
        let config = match identity {
            Some(identity) => builder
                .with_client_auth_cert(vec![identity.certificate.clone()], identity.key.clone_key())
                .unwrap(),
            None => builder.with_no_client_auth(),
        };
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let (address, bytes) = (self.address, bytes.to_vec());
        blocking(move || {
            let stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            // The server may close the connection before all bytes are sent.
            let _ = stream.write_all(&bytes);
            stream
        })
        .await
    }

    /// Sends bytes, and returns everything that the server sends until it closes the connection.
    async fn say(&self, identity: Option<&Identity>, bytes: &[u8]) -> String {
        let mut stream = self.send(identity, bytes).await;
        blocking(move || {
            let mut answer = Vec::new();
            if let Err(error) = stream.read_to_end(&mut answer) {
                assert_ne!(error.kind(), ErrorKind::WouldBlock, "the server neither answers nor hangs up");
            }
            String::from_utf8_lossy(&answer).into_owned()
        })
        .await
    }

    /// Sends a GET with these headers; returns the status code and the body.
    async fn get(&self, path: &str, headers: &[&str]) -> (u16, String) {
        self.get_as(None, path, headers).await
    }

    async fn get_as(&self, identity: Option<&Identity>, path: &str, headers: &[&str]) -> (u16, String) {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
        parse(&self.say(identity, request.as_bytes()).await)
    }
}

fn parse(answer: &str) -> (u16, String) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    (code.unwrap_or_else(|| panic!("no status: {answer:?}")), body.to_owned())
}

fn review(status: &serde_json::Value) -> ScriptedAnswer {
    (201, json!({"spec": {}, "status": status}).to_string())
}

fn token_of(user: &str) -> ScriptedAnswer {
    review(&json!({"authenticated": true, "user": {"username": user, "groups": ["g"]}}))
}

fn no_token() -> ScriptedAnswer {
    review(&json!({"authenticated": false}))
}

fn allowed(allowed: bool) -> ScriptedAnswer {
    review(&json!({"allowed": allowed}))
}

/// A certificate authority, also as a file.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    dir: TempDir,
}

/// The certificate and key of a client.
struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("ca.crt"), issuer.pem()).unwrap();
        Self { issuer, dir }
    }

    fn file(&self) -> String {
        self.dir.path().join("ca.crt").display().to_string()
    }

    fn sign(&self, name: &str, group: &str) -> Identity {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.distinguished_name.push(DnType::OrganizationName, group);
        params.extended_key_usages.push(ExtendedKeyUsagePurpose::ClientAuth);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        Identity { certificate: certificate.der().clone(), key }
    }
}

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = listen(&serving(&[format!("--secure-port={port}")])).unwrap_err();
    let text = format!("{error:#}");
    assert!(text.contains(&format!("127.0.0.1:{port}")) && text.contains("--secure-port=0"), "{text}");
}
