//! The connections of our HTTP servers: one loop that accepts them ([`serve`]), one function for the requests of a connection
//! ([`http()`]), and limits on what clients may cost.
//!
//! A connection is *unauthenticated* until its server calls [`Slot::authenticate`]. When all slots are in use, the oldest
//! unauthenticated connection is closed for a new one; an authenticated connection is never closed for others. So a client
//! that connects and then sends nothing cannot keep others out.
//!
//! Must not know: what is served, and how a client is authenticated.

mod slots;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use futures::future::{AbortHandle, BoxFuture, abortable};
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use http::{HeaderValue, Request, Response, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
pub(crate) use slots::Slot;
use slots::Table;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::Instant;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Connections at once, including authenticated ones.
    pub(crate) connections: usize,
    /// Unauthenticated connections from one address at once.
    pub(crate) per_address: usize,
    /// How long the TLS handshake may take.
    pub(crate) handshake: Duration,
    /// How long the head of a request may take to arrive. A connection without a request is closed after this long, too.
    pub(crate) head: Duration,
    /// A connection that is older than this is closed after its next answer; a healthy client connects again.
    pub(crate) life: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            per_address: 64,
            handshake: Duration::from_secs(3),
            head: Duration::from_secs(5),
            life: Duration::from_secs(5 * 60),
        }
    }
}

/// The most bytes of the head of one request.
const HEAD_LEN_MAX: usize = 64 << 10;

/// How long sending the last answer of a connection may take.
const LAST_ANSWER_MAX: Duration = Duration::from_secs(10);

/// The pause after a connection could not be accepted, for instance because the process has no file descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Connections that wait in the kernel to be accepted, at most.
const BACKLOG: u32 = 1024;

/// The least time between two warnings about connections that were closed to make room.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// Listens on an address. `[::]` means all IPv6 and IPv4 addresses, or all IPv4 addresses if the machine has no IPv6.
pub(crate) fn listen(address: SocketAddr, is_port_shared: bool) -> io::Result<TcpListener> {
    let bind = |address: SocketAddr| {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // As Go does: a port in TIME_WAIT can be used.
        socket.set_reuseaddr(true)?;
        #[cfg(unix)]
        socket.set_reuseport(is_port_shared)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    #[cfg(not(unix))]
    let _ = is_port_shared;
    bind(address).or_else(|error| match address.ip() == Ipv6Addr::UNSPECIFIED {
        true => bind((Ipv4Addr::UNSPECIFIED, address.port()).into()).map_err(|_| error),
        false => Err(error),
    })
}

/// Accepts connections for ever, and runs `handle_connection` for each of them with its slot. All connections share one task:
/// a request is answered in microseconds, or waits for another task.
pub(crate) async fn serve<T, F>(server: &str, listener: &TcpListener, limits: Limits, handle_connection: T)
where
    T: Fn(TcpStream, Slot) -> F,
    F: Future<Output = ()> + Send,
{
    let table = Table::new(limits.connections, limits.per_address);
    let mut connections: FuturesUnordered<BoxFuture<'_, u64>> = FuturesUnordered::new();
    let mut handles: BTreeMap<u64, AbortHandle> = BTreeMap::new();
    let mut closed = ClosedConnections::default();
    // A connection that was accepted while all slots are in use by authenticated ones waits here.
    let mut waiting: Option<(TcpStream, SocketAddr)> = None;
    loop {
        if let Some((stream, address)) = waiting.take_if(|_| table.has_room()) {
            let (slot, oldest) = table.admit(address.ip());
            if let Some(handle) = oldest.and_then(|id| handles.remove(&id)) {
                handle.abort();
                closed.count(server);
            }
            let id = slot.id();
            let (connection, handle) = abortable(handle_connection(stream, slot));
            handles.insert(id, handle);
            // Whether the connection ended or was aborted makes no difference here.
            connections.push(Box::pin(connection.map(move |_| id)));
        }
        tokio::select! {
            biased;
            Some(id) = connections.next(), if !connections.is_empty() => {
                table.remove(id);
                handles.remove(&id);
            }
            accepted = accept(server, listener), if waiting.is_none() => waiting = accepted,
        }
    }
}

/// The next connection; `None`, after a pause, if it could not be accepted.
async fn accept(server: &str, listener: &TcpListener) -> Option<(TcpStream, SocketAddr)> {
    match listener.accept().await {
        Ok((stream, address)) => {
            // Each answer is sent in one piece, so nothing is gained by waiting for more data.
            let _ = stream.set_nodelay(true);
            Some((stream, address))
        }
        Err(error) => {
            tracing::warn!("{server}: accept a connection: {error}");
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

/// Answers the requests of one connection, until the client closes it or it is older than `limits.life`.
pub(crate) async fn http<A, F>(stream: impl AsyncRead + AsyncWrite + Unpin, limits: Limits, answer: A)
where
    A: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<Full<Bytes>>>,
{
    let end = Instant::now() + limits.life;
    let service = service_fn(|request| {
        let answer = answer(request);
        async move {
            let mut response = answer.await;
            // The header avoids a race: the client knows that it must not send another request on this connection.
            if Instant::now() >= end {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head).max_buf_size(HEAD_LEN_MAX);
    let connection = http.serve_connection(TokioIo::new(stream), service);
    // Errors of a connection are not ours: the client went away, or sent nonsense.
    let _ = tokio::time::timeout_at(end + limits.head + LAST_ANSWER_MAX, connection).await;
}

/// Counts the connections that were closed to make room, and logs the count from time to time.
#[derive(Default)]
struct ClosedConnections {
    count: u64,
    logged_at: Option<Instant>,
}

impl ClosedConnections {
    fn count(&mut self, server: &str) {
        self.count += 1;
        let now = Instant::now();
        if self.logged_at.is_none_or(|logged_at| now.duration_since(logged_at) >= WARNING_INTERVAL) {
            let count = std::mem::take(&mut self.count);
            self.logged_at = Some(now);
            tracing::warn!("{server}: closed {count} unauthenticated connections to make room for new ones");
        }
    }
}
