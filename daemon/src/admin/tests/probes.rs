//! Probes on their own port, and the port for metrics when all its connections are in use.

use super::super::probes::{LIMITS, Probes};
use super::{Limits, PATIENCE, Script, Server, allowed, blocking, parse, token_of};
use crate::clock::Clock;
use crate::connections::listen;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

const TOKEN: &str = "GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n\r\n";

/// Serves the probes of `server` until the returned task set is dropped.
fn probes(server: &Server, limits: Limits) -> (SocketAddr, JoinSet<()>) {
    let listener = listen("127.0.0.1:0".parse().unwrap(), false).unwrap();
    let probes = Probes::new(listener, Arc::clone(&server.health), Clock::start());
    let address = probes.address().unwrap();
    let mut task = JoinSet::new();
    task.spawn(async move { probes.run_with(limits).await });
    (address, task)
}

/// Sends a request line; returns the status code and the body.
async fn say(address: SocketAddr, line: &str) -> (u16, String) {
    let request = format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n");
    let answer = blocking(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    });
    parse(&answer.await)
}

async fn server() -> Server {
    Script::default().argument("--authentication-skip-lookup").start().await
}

#[tokio::test]
async fn three_paths_are_served_and_nothing_else() {
    let server = server().await;
    let (address, _task) = probes(&server, LIMITS);
    for path in ["/livez", "/healthz"] {
        assert_eq!(say(address, &format!("GET {path}")).await, (200, "ok".to_owned()), "{path}");
    }
    let (code, text) = say(address, "GET /readyz?exclude=sched-handler-sync").await;
    assert_eq!(code, 500, "a query means nothing: {text}");
    server.health.synced(true);
    assert_eq!(say(address, "GET /readyz?verbose").await, (200, "ok".to_owned()));
    assert_eq!(say(address, "HEAD /readyz").await, (200, String::new()));
    assert_eq!(say(address, "POST /livez").await.0, 405);
    for path in ["/", "/metrics", "/configz", "/readyz/sched-handler-sync", "/livez/ping", "/livez/"] {
        assert_eq!(say(address, &format!("GET {path}")).await.0, 404, "{path}");
    }
}

#[tokio::test]
async fn silent_connections_do_not_make_probes_fail() {
    let server = server().await;
    let long = Duration::from_secs(600);
    let (address, _task) = probes(&server, Limits { connections: 4, per_address: 4, head: long, ..LIMITS });
    let _silent = blocking(move || [(); 20].map(|()| TcpStream::connect(address).unwrap())).await;
    assert_eq!(say(address, "GET /livez").await.0, 200);
}

/// Whether the answer is complete by its `content-length`.
fn is_whole(answer: &str) -> bool {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else { return false };
    let len = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    body.len() >= len.unwrap_or(usize::MAX)
}

/// Reads one answer from a connection that stays open.
async fn answer(mut stream: super::Stream) -> (super::Stream, String) {
    blocking(move || {
        let mut answer = String::new();
        while !is_whole(&answer) {
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes).unwrap();
            assert_ne!(count, 0, "it was closed: {answer}");
            answer.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        (stream, answer)
    })
    .await
}

#[tokio::test]
async fn who_reads_metrics_keeps_the_connection_and_probes_are_answered_meanwhile() {
    let limits = Limits { connections: 1, ..Limits::default() };
    let script = Script {
        authentication: vec![token_of("prometheus")],
        authorization: vec![allowed(true)],
        limits,
        ..Script::default()
    };
    let server = script.argument("--authentication-skip-lookup").start().await;
    let (address, _task) = probes(&server, LIMITS);
    let (mut known, first) = answer(server.send(None, TOKEN.as_bytes()).await).await;
    assert!(first.starts_with("HTTP/1.1 200"), "{first}");
    // The only slot is in use by an authenticated connection, which is not closed for others.
    let admin = server.address;
    let _silent = blocking(move || [(); 20].map(|()| TcpStream::connect(admin).unwrap())).await;
    assert_eq!(say(address, "GET /livez").await.0, 200);
    known = blocking(move || {
        known.write_all(TOKEN.as_bytes()).unwrap();
        known
    })
    .await;
    let (known, second) = answer(known).await;
    assert!(second.starts_with("HTTP/1.1 200"), "{second}");
    drop(known);
    assert_eq!(server.get("/livez", &[]).await.0, 200, "and then others have their turn");
}

#[tokio::test]
async fn a_token_alone_does_not_keep_a_connection() {
    let long = Duration::from_secs(600);
    let limits = Limits { connections: 1, head: long, ..Limits::default() };
    let script = Script {
        authentication: vec![token_of("tenant"), token_of("tenant"), token_of("tenant")],
        authorization: vec![allowed(true), allowed(false)],
        limits,
        ..Script::default()
    };
    let server = script.argument("--authentication-skip-lookup").start().await;
    // Every service account may read the first page, but not the second one.
    for path in ["/version", "/metrics", "/livez"] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n\r\n");
        let _tenant = answer(server.send(None, request.as_bytes()).await).await;
        assert_eq!(server.get("/livez", &[]).await.0, 200, "{path}");
    }
}
