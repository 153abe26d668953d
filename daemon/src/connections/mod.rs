//! The connections of our servers: one loop that accepts them, and a limit on everything that a client may cost.
//!
//! A connection is *unauthenticated* until its server says who is at the other end ([`Slot::authenticate`]). When all slots
//! are in use, the oldest unauthenticated connection is closed for the new one; an authenticated connection never is. A
//! client that connects and then says nothing cannot keep others out.
//!
//! Knows nothing of: what is served, and how a client is authenticated.

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

/// What the clients of one server may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Connections at once, authenticated ones included.
    pub(crate) connections: usize,
    /// Unauthenticated connections from one address at once.
    pub(crate) per_address: usize,
    /// How long the TLS handshake may take.
    pub(crate) handshake: Duration,
    /// How long the head of a request may take to arrive. A connection without a request ends after this long, too.
    pub(crate) head: Duration,
    /// A connection that is older than this is closed after its next answer; a client that is well connects again.
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

/// Bytes of one request's head.
const HEAD_LEN_MAX: usize = 64 << 10;

/// How long the last answer of a connection may take until the client has it.
const LAST_ANSWER_MAX: Duration = Duration::from_secs(10);

/// Before the next try when a connection could not be accepted, for instance because all files are in use.
const PAUSE: Duration = Duration::from_millis(100);

/// Connections that the kernel may keep until they are accepted.
const BACKLOG: u32 = 1024;

/// How often the log may say that connections were closed to make room.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// Listens on an address. `[::]` stands for all addresses of both families where the machine has IPv6, else of IPv4.
pub(crate) fn listen(address: SocketAddr, is_port_shared: bool) -> io::Result<TcpListener> {
    let bind = |address: SocketAddr| {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // As Go does: a port in TIME_WAIT is free.
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

/// Accepts connections for ever, and lets `talk` have each of them with its slot. All share one task: what they ask is
/// answered in microseconds, or waits for somebody else.
pub(crate) async fn serve<T, F>(server: &str, listener: &TcpListener, limits: Limits, talk: T)
where
    T: Fn(TcpStream, Slot) -> F,
    F: Future<Output = ()> + Send,
{
    let table = Table::new(limits.connections, limits.per_address);
    let mut connections: FuturesUnordered<BoxFuture<'_, u64>> = FuturesUnordered::new();
    let mut handles: BTreeMap<u64, AbortHandle> = BTreeMap::new();
    let mut closed = Closed::default();
    // One that was accepted while all others are authenticated waits here.
    let mut waiting: Option<(TcpStream, SocketAddr)> = None;
    loop {
        if let Some((stream, address)) = waiting.take_if(|_| table.has_room()) {
            let (slot, oldest) = table.admit(address.ip());
            if let Some(handle) = oldest.and_then(|id| handles.remove(&id)) {
                handle.abort();
                closed.count(server);
            }
            let id = slot.id();
            let (connection, handle) = abortable(talk(stream, slot));
            handles.insert(id, handle);
            // Whether it ended or was closed makes no difference here.
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

/// The next connection; `None` after a moment if there was an error.
async fn accept(server: &str, listener: &TcpListener) -> Option<(TcpStream, SocketAddr)> {
    match listener.accept().await {
        Ok((stream, address)) => {
            // Answers are small and whole: nothing is gained by waiting for more to send.
            let _ = stream.set_nodelay(true);
            Some((stream, address))
        }
        Err(error) => {
            tracing::warn!("{server}: accept a connection: {error}");
            tokio::time::sleep(PAUSE).await;
            None
        }
    }
}

/// Answers the requests of one connection, until the client ends it or it has lived long enough.
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
            // A connection that ends with an answer ends without a race: the client knows that it has to connect again.
            if Instant::now() >= end {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head).max_buf_size(HEAD_LEN_MAX);
    let connection = http.serve_connection(TokioIo::new(stream), service);
    // Whatever goes wrong here is the client's affair.
    let _ = tokio::time::timeout_at(end + limits.head + LAST_ANSWER_MAX, connection).await;
}

/// The connections that were closed to make room, and when the log said so last.
#[derive(Default)]
struct Closed {
    count: u64,
    said: Option<Instant>,
}

impl Closed {
    fn count(&mut self, server: &str) {
        self.count += 1;
        let now = Instant::now();
        if self.said.is_none_or(|said| now.duration_since(said) >= WARNING_INTERVAL) {
            let count = std::mem::take(&mut self.count);
            self.said = Some(now);
            tracing::warn!("{server}: closed {count} unauthenticated connections to make room for new ones");
        }
    }
}
