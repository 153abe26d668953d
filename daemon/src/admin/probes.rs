//! Probes on a port of their own: `/livez`, `/readyz` and `/healthz` over plain HTTP, for kubelets. Whoever uses up the
//! connections of the port for metrics does not make these fail.

use super::health::Health;
use crate::clock::Clock;
use crate::config::Config;
use crate::connections::{self, Limits, Slot};
use anyhow::Context as _;
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// The paths that are served. Single checks, which give reasons, are not: anybody may ask here.
const PATHS: [&str; 3] = ["/livez", "/readyz", "/healthz"];

/// A kubelet asks once a connection, and at once.
pub(super) const LIMITS: Limits = Limits {
    connections: 64,
    per_address: 16,
    handshake: Duration::ZERO, // There is none.
    head: Duration::from_secs(2),
    life: Duration::ZERO, // Each connection ends with its first answer.
};

/// A server that listens, and serves when it is run.
pub struct Probes {
    listener: TcpListener,
    health: Arc<Health>,
    clock: Clock,
}

impl Probes {
    /// Listens as the configuration says. `None` if probes have no port of their own.
    ///
    /// # Errors
    /// When the port is taken.
    pub fn start(config: &Config, clock: &Clock, health: Arc<Health>) -> anyhow::Result<Option<Self>> {
        let Some(address) = config.probes else { return Ok(None) };
        let listener = connections::listen(address, false);
        let listener =
            listener.with_context(|| format!("listen on {address} (--health-probe-bind-address)"))?;
        tracing::info!("serves probes on http://{}", listener.local_addr()?);
        Ok(Some(Self::new(listener, health, clock.clone())))
    }

    pub(super) fn new(listener: TcpListener, health: Arc<Health>, clock: Clock) -> Self {
        Self { listener, health, clock }
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves for ever.
    pub async fn run(self) {
        self.run_with(LIMITS).await;
    }

    pub(super) async fn run_with(&self, limits: Limits) {
        let talk = |stream: TcpStream, _slot: Slot| {
            connections::http(stream, limits, |request| {
                let response = answer(&request, &self.health, self.clock.now().elapsed);
                std::future::ready(response)
            })
        };
        connections::serve("probes", &self.listener, limits, talk).await;
    }
}

/// The answer to a request. Its query, its headers and its body mean nothing.
fn answer<B>(request: &Request<B>, health: &Health, elapsed: Duration) -> Response<Full<Bytes>> {
    let path = request.uri().path();
    let is_read = request.method() == Method::GET || request.method() == Method::HEAD;
    let health = PATHS.contains(&path).then(|| health.answer(path, "", elapsed)).flatten();
    let (code, text) = match health {
        Some(_) if !is_read => (StatusCode::METHOD_NOT_ALLOWED, "405 method not allowed\n".to_owned()),
        Some(answer) => answer,
        None => (StatusCode::NOT_FOUND, "404 page not found\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = code;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
