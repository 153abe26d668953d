//! Which connection is closed for which: the table alone, and real sockets on loopback.

use super::slots::Table;
use super::{Limits, Slot, http, listen, serve};
use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// How long a client waits for data.
const PATIENCE: Duration = Duration::from_secs(20);

/// A limit that is never reached in these tests.
const LONG: Duration = Duration::from_secs(600);

fn address(last: u8) -> IpAddr {
    [10, 0, 0, last].into()
}

#[test]
fn the_oldest_unauthenticated_connection_makes_room() {
    let table = Table::new(3, 3);
    let (first, none) = table.admit(address(1));
    assert_eq!(none, None);
    first.authenticate();
    let (second, _) = table.admit(address(2));
    let (third, _) = table.admit(address(3));
    let (fourth, closed) = table.admit(address(4));
    assert_eq!(closed, Some(second.id()), "the first is older, and authenticated");
    second.authenticate();
    assert_eq!(table.admit(address(5)).1, Some(third.id()), "one that was closed has no slot to keep");
    table.remove(fourth.id());
    assert_eq!(table.admit(address(6)).1, None, "a connection has ended");
}

#[test]
fn an_address_that_has_all_it_may_have_loses_its_own() {
    let table = Table::new(5, 2);
    let (other, _) = table.admit(address(1));
    let (first, _) = table.admit(address(2));
    let (second, none) = table.admit("::ffff:10.0.0.2".parse().unwrap());
    assert_eq!(none, None);
    assert_eq!(
        table.admit(address(2)).1,
        Some(first.id()),
        "{} is older, and of another address",
        other.id()
    );
    second.authenticate();
    assert_eq!(table.admit(address(2)).1, None, "authenticated ones do not count");
}

#[test]
fn without_a_connection_that_may_be_closed_there_is_no_room() {
    let table = Table::new(2, 2);
    let slots = [table.admit(address(1)).0, table.admit(address(1)).0];
    assert!(table.has_room());
    slots.iter().for_each(Slot::authenticate);
    assert!(!table.has_room());
    table.remove(slots[0].id());
    assert!(table.has_room());
}

/// A server that authenticates every connection that requests `/authenticate`. It ends when this value is dropped.
struct Server {
    address: SocketAddr,
    _task: JoinSet<()>,
}

impl Server {
    fn start(limits: Limits) -> Self {
        let listener = listen("127.0.0.1:0".parse().unwrap(), false).unwrap();
        let address = listener.local_addr().unwrap();
        let mut task = JoinSet::new();
        task.spawn(async move {
            let handle_connection = |stream, slot| {
                let slot = Arc::new(slot);
                http(stream, limits, move |request| {
                    if request.uri().path() == "/authenticate" {
                        Slot::authenticate(&slot);
                    }
                    std::future::ready(Response::new(Full::new(Bytes::from("ok"))))
                })
            };
            serve("test", &listener, limits, handle_connection).await;
        });
        Self { address, _task: task }
    }

    /// A connection that sends nothing. Connections are accepted in the order of these calls.
    async fn connect(&self) -> TcpStream {
        let address = self.address;
        blocking(move || {
            let stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            stream
        })
        .await
    }

    async fn connect_many(&self, count: usize) -> Vec<TcpStream> {
        let mut streams = Vec::new();
        for _ in 0..count {
            streams.push(self.connect().await);
        }
        streams
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// Requests a path on a connection that stays open; returns the connection and the answer.
async fn get(mut stream: TcpStream, path: &'static str) -> (TcpStream, String) {
    blocking(move || {
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
        let mut answer = Vec::new();
        // If the server has closed the connection, the write may fail.
        if stream.write_all(request.as_bytes()).is_ok() {
            while !answer.ends_with(b"\r\n\r\nok") {
                let mut bytes = [0; 1024];
                match stream.read(&mut bytes) {
                    Ok(0) => break,
                    Ok(count) => answer.extend_from_slice(&bytes[..count]),
                    Err(error) => {
                        assert_ne!(error.kind(), ErrorKind::WouldBlock, "neither an answer nor an end");
                        break;
                    }
                }
            }
        }
        (stream, String::from_utf8(answer).unwrap())
    })
    .await
}

fn is_ok(answer: &str) -> bool {
    answer.starts_with("HTTP/1.1 200 OK\r\n")
}

/// Whether the server closes the connection by itself.
async fn ends(mut stream: TcpStream) -> bool {
    blocking(move || match stream.read(&mut [0]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    })
    .await
}

fn limits(connections: usize, per_address: usize) -> Limits {
    Limits { connections, per_address, handshake: LONG, head: LONG, life: LONG }
}

#[tokio::test]
async fn silent_connections_keep_nobody_out_and_an_authenticated_one_stays() {
    let server = Server::start(limits(4, 4));
    let (known, answer) = get(server.connect().await, "/authenticate").await;
    assert!(is_ok(&answer), "{answer}");
    let mut silent = server.connect_many(20).await;
    let (_, answer) = get(server.connect().await, "/").await;
    assert!(is_ok(&answer), "a new client among {} silent ones: {answer}", silent.len());
    let (_, answer) = get(known, "/").await;
    assert!(is_ok(&answer), "the oldest connection, which is authenticated: {answer}");
    assert!(ends(silent.remove(0)).await, "the oldest silent one had to go");
}

#[tokio::test]
async fn authenticated_connections_have_a_limit_too() {
    let server = Server::start(limits(2, 2));
    let (first, _) = get(server.connect().await, "/authenticate").await;
    let (_second, _) = get(server.connect().await, "/authenticate").await;
    let third = server.connect().await;
    let mut waits = blocking(move || {
        (&third).write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        third.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        assert!(third.peek(&mut [0]).is_err(), "there is no room for it");
        third.set_read_timeout(Some(PATIENCE)).unwrap();
        third
    })
    .await;
    drop(first);
    assert_eq!(blocking(move || waits.read(&mut [0]).unwrap()).await, 1, "now there is");
}

/// On Linux all of 127.0.0.0/8 is loopback.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn one_address_cannot_push_out_the_connections_of_others() {
    let server = Server::start(limits(8, 3));
    let quiet = server.connect().await;
    let mut crowd = Vec::new();
    for _ in 0..20 {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        crowd.push(socket.connect(server.address).await.unwrap());
    }
    let (_, answer) = get(quiet, "/").await;
    assert!(is_ok(&answer), "it was there first, and is of another address: {answer}");
    let first = crowd.remove(0).into_std().unwrap();
    first.set_nonblocking(false).unwrap();
    assert!(ends(first).await, "the crowd's own oldest one had to go");
}

#[tokio::test]
async fn a_head_that_does_not_come_ends_the_connection() {
    let server = Server::start(Limits { head: Duration::from_millis(100), ..limits(4, 4) });
    assert!(ends(server.connect().await).await);
}

#[tokio::test]
async fn a_connection_that_is_old_enough_ends_with_an_answer() {
    let life = Duration::from_millis(300);
    let server = Server::start(Limits { life, ..limits(4, 4) });
    let mut stream = server.connect().await;
    let begun = tokio::time::Instant::now();
    loop {
        let (again, answer) = get(stream, "/").await;
        assert!(is_ok(&answer), "{answer}");
        if answer.contains("connection: close") {
            break assert!(ends(again).await);
        }
        assert!(begun.elapsed() < PATIENCE, "{answer}");
        stream = again;
    }
}
