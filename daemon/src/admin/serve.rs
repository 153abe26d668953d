//! From connections to requests, with a limit on everything: how many, how long, how much.

use super::answer::{Peer, Site};
use super::tls::Tls;
use bytes::Bytes;
use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// What a client may cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Connections at once. More wait until one ends.
    pub(super) connections: usize,
    /// A client that has not said hello, or what it wants, after this long is sent away.
    pub(super) head: Duration,
    /// A connection that is older than this is closed; a client that is well comes again.
    pub(super) life: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 256, head: Duration::from_secs(5), life: Duration::from_secs(5 * 60) }
    }
}

/// Bytes of one request's head.
const HEAD_LEN_MAX: usize = 64 << 10;

/// Before the next try when a connection could not be accepted, for instance because all files are in use.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves for ever. All connections share one task: what they ask is answered in microseconds, or waits for the cluster.
pub(super) async fn serve(listener: &TcpListener, tls: &Tls, site: &Arc<Site>, limits: Limits) {
    let mut connections: FuturesUnordered<BoxFuture<'_, ()>> = FuturesUnordered::new();
    loop {
        tokio::select! {
            biased;
            Some(()) = connections.next(), if !connections.is_empty() => {}
            accepted = listener.accept(), if connections.len() < limits.connections => match accepted {
                Ok((stream, _)) => connections.push(Box::pin(connection(stream, tls, site, limits))),
                Err(error) => {
                    tracing::warn!("accept a connection: {error}");
                    tokio::time::sleep(PAUSE).await;
                }
            },
        }
    }
}

async fn connection(stream: TcpStream, tls: &Tls, site: &Arc<Site>, limits: Limits) {
    // Whatever goes wrong here is the client's affair: port scans and closed browsers are no news.
    let Ok(Ok(stream)) = tokio::time::timeout(limits.head, tls.accept(stream)).await else { return };
    let peer = Arc::new(Peer::new(stream.get_ref().1.peer_certificates()));
    let service = service_fn(|request: http::Request<Incoming>| {
        let (site, peer) = (Arc::clone(site), Arc::clone(&peer));
        async move {
            let (head, _body) = request.into_parts();
            let answer = site.answer(&head, &peer).await;
            Ok::<_, Infallible>(answer.map(|text| Full::new(Bytes::from(text))))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head).max_buf_size(HEAD_LEN_MAX);
    let _ = tokio::time::timeout(limits.life, http.serve_connection(TokioIo::new(stream), service)).await;
}
