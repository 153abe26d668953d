//! Many clients at once: clients without a certificate, and bodies that together are too long.

use super::super::bodies::Bodies;
use super::super::serve::serve;
use super::super::tls::ExtenderServerTls;
use super::mutual::{authority, client, write};
use super::{FILTER, answers, handler, send};
use crate::connections::{Limits, listen};
use crate::lease::replica::LeaseValidity;
use bytes::Bytes;
use futures::StreamExt as _;
use http::{Method, StatusCode};
use http_body_util::{Full, StreamBody};
use hyper::body::Frame;
use rustls::{ClientConnection, StreamOwned};
use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

const PATIENCE: Duration = Duration::from_secs(20);
const KIB: usize = 1 << 10;

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// Sends a request on a connection that stays open; returns the connection and the status line.
async fn ask(
    mut stream: StreamOwned<ClientConnection, TcpStream>,
) -> (StreamOwned<ClientConnection, TcpStream>, String) {
    blocking(move || {
        let head = format!("POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", FILTER.len());
        stream.write_all(format!("{head}{FILTER}").as_bytes()).unwrap();
        let mut answer = String::new();
        while !answer.contains("\"Error\":\"\"") {
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes).unwrap();
            assert_ne!(count, 0, "it was closed: {answer}");
            answer.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        (stream, answer.lines().next().unwrap_or_default().to_owned())
    })
    .await
}

#[tokio::test]
async fn stalled_handshakes_keep_no_client_with_a_certificate_out() {
    let dir = tempfile::tempdir().unwrap();
    let ours = authority();
    let tls = ExtenderServerTls::new(&write(dir.path(), &ours)).unwrap();
    let (handler, questions) = handler(LeaseValidity::for_ever());
    let mut tasks = JoinSet::new();
    tasks.spawn(answers(questions, handler.replies.clone()));
    let listener = listen("127.0.0.1:0".parse().unwrap(), false).unwrap();
    let address = listener.local_addr().unwrap();
    let limits = Limits { connections: 4, handshake: Duration::from_secs(600), ..Limits::default() };
    tasks.spawn(serve(listener, Some(tls), handler, limits));
    let crowd = || blocking(move || [(); 20].map(|()| TcpStream::connect(address).unwrap()));
    let _first = crowd().await;
    let connection = client(&ours, Some(&ours));
    let stream = blocking(move || {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        StreamOwned::new(ClientConnection::new(connection, "localhost".try_into().unwrap()).unwrap(), stream)
    });
    let (stream, status) = ask(stream.await).await;
    assert_eq!(status, "HTTP/1.1 200 OK");
    let _second = crowd().await;
    assert_eq!(ask(stream).await.1, "HTTP/1.1 200 OK", "it is the oldest by now, and stays");
}

/// A body of `len` bytes, piece by piece, that then does not end.
fn endless(len: usize) -> StreamBody<impl futures::Stream<Item = Result<Frame<Bytes>, Infallible>>> {
    let piece = || Ok(Frame::data(Bytes::from(vec![b'x'; 64 * KIB])));
    let pieces = futures::stream::iter((0..len / (64 * KIB)).map(move |_| piece()));
    StreamBody::new(pieces.chain(futures::stream::pending()))
}

fn whole(len: usize) -> Full<Bytes> {
    Full::new(Bytes::from(vec![b'x'; len]))
}

#[tokio::test(start_paused = true)]
async fn all_bodies_together_have_a_limit() {
    let bodies = Arc::new(Bodies::new(256 * KIB, 256 * KIB));
    let reading = {
        let bodies = Arc::clone(&bodies);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { bodies.read(endless(256 * KIB)).await.map(|read| read.bytes.len()) });
        tasks
    };
    let soon = Duration::from_secs(1);
    tokio::task::yield_now().await;
    let waits = tokio::time::timeout(soon, bodies.read(whole(1))).await;
    assert!(waits.is_err(), "not a byte more is read: one who waits has a moment");
    // The endless body times out first, and frees the memory for the next one.
    let read = bodies.read(whole(100 * KIB)).await.map(|read| read.bytes.len());
    assert_eq!(read, Ok(100 * KIB));
    let ended = reading.join_all().await.remove(0);
    assert_eq!(ended.map_err(|(code, _)| code), Err(StatusCode::SERVICE_UNAVAILABLE));
}

#[tokio::test(start_paused = true)]
async fn one_body_has_a_limit_said_or_not() {
    let bodies = Bodies::new(256 * KIB, 256 * KIB);
    let code = |read: Result<super::super::bodies::RequestBody, (StatusCode, String)>| {
        read.map(|read| read.bytes.len()).map_err(|(code, _)| code)
    };
    assert_eq!(code(bodies.read(whole(256 * KIB)).await), Ok(256 * KIB));
    assert_eq!(code(bodies.read(whole(256 * KIB + 1)).await), Err(StatusCode::PAYLOAD_TOO_LARGE));
    assert_eq!(code(bodies.read(endless(512 * KIB)).await), Err(StatusCode::PAYLOAD_TOO_LARGE));
    assert_eq!(code(bodies.read(endless(64 * KIB)).await), Err(StatusCode::SERVICE_UNAVAILABLE), "too slow");
    assert_eq!(code(bodies.read(whole(256 * KIB)).await), Ok(256 * KIB), "nothing is left behind");
}

#[tokio::test]
async fn bind_can_be_off() {
    let (mut handler, _questions) = handler(LeaseValidity::for_ever());
    handler.is_binding = false;
    let body = r#"{"PodName":"p","PodNamespace":"d","PodUID":"u","Node":"a"}"#;
    let (code, text) = send(&handler, Method::POST, "/bind", body).await;
    assert_eq!(code, StatusCode::FORBIDDEN);
    assert!(text.contains("--extender-bind"), "{text}");
}
