//! Probes on their own port: `/livez`, `/readyz` and `/healthz` over plain HTTP, for kubelets. They work even if a client uses
//! up all connections of the port for metrics.

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

/// The paths that are served. Single checks are not served, because they give reasons and every client may ask here.
const PATHS: [&str; 3] = ["/livez", "/readyz", "/healthz"];

/// Limits for kubelets, which send one request per connection, immediately.
pub(super) const LIMITS: Limits = Limits {
    connections: 64,
    per_address: 16,
    handshake: Duration::ZERO, // There is no TLS.
    head: Duration::from_secs(2),
    life: Duration::ZERO, // Each connection ends with its first answer.
};

/// The server for probes. It listens from the start, and answers when [`Probes::run`] is called.
pub struct Probes {
    listener: TcpListener,
    health: Arc<Health>,
    clock: Clock,
}

impl Probes {
    /// Listens as the configuration says. `None` if probes have no port of their own.
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

    /// The address that it listens on.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    pub async fn run(self) {
        self.run_with(LIMITS).await;
    }

    pub(super) async fn run_with(&self, limits: Limits) {
        let handle_connection = |stream: TcpStream, _slot: Slot| {
            connections::http(stream, limits, |request| {
                let response = answer(&request, &self.health, self.clock.now().elapsed);
                std::future::ready(response)
            })
        };
        connections::serve("probes", &self.listener, limits, handle_connection).await;
    }
}

/// The answer to a request. Query, headers and body are ignored.
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
