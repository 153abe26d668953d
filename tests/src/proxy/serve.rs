//! The connections of the proxy: applies the rules to each request, and forwards it.

use super::body::{self, ResponseBody};
use super::rule::RequestInfo;
use super::{Fault, Shared};
use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};

/// Accepts and serves clients until the listener fails.
#[expect(clippy::disallowed_methods, reason = "a task of the harness, which ends with its owner")]
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let mut is_cut = shared.is_cut.subscribe();
            tokio::select! {
                biased;
                // Dropping the connection breaks it.
                _ = is_cut.wait_for(|is_cut| *is_cut) => {}
                // An error here only means that the client has closed the connection.
                _ = serve(stream, &shared) => {}
            }
        });
    }
}

async fn serve(stream: TcpStream, shared: &Arc<Shared>) -> Result<()> {
    let stream = shared.tls.accept(stream).await?;
    let answer = service_fn(|request| answer(request, Arc::clone(shared)));
    let connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
    connection.await.context("serve a client")
}

/// An error breaks the connection without an answer.
async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<ResponseBody>> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let info = RequestInfo { method: request.method(), path: &path };
    let is_watch = info.is_watch();
    let (fault, is_last) = shared.judge(&info).map_or((None, false), |(fault, last)| (Some(fault), last));
    let end = || is_last.then(|| shared.is_cut.send_replace(true));
    match fault {
        Some(Fault::LoseRequest) => {
            end();
            bail!("lost on purpose");
        }
        Some(Fault::Swallow) => {
            end();
            std::future::pending().await
        }
        Some(Fault::Answer(code)) => {
            end();
            return body::fixed(code);
        }
        Some(Fault::LoseAnswer | Fault::SwallowAnswer) | None => {}
    }
    if is_watch {
        shared.watches.subscribe().wait_for(|watches| !watches.is_held).await?;
    }
    let response = forward(request, &shared).await?;
    if fault.is_some() {
        response.into_body().collect().await.context("read the answer that is to be lost")?;
        end();
        if fault == Some(Fault::SwallowAnswer) {
            std::future::pending::<()>().await;
        }
        bail!("lost on purpose");
    }
    let watches = is_watch.then(|| shared.watches.subscribe());
    Ok(response.map(|incoming| body::streamed(incoming, watches)))
}

/// Sends the request to the API server, on a new connection.
#[expect(clippy::disallowed_methods, reason = "a task of the harness, which ends with its owner")]
async fn forward(request: Request<Incoming>, shared: &Shared) -> Result<Response<Incoming>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.context("read a request")?.to_bytes();
    let stream = shared.tls.connect(shared.upstream).await?;
    let handshake = hyper::client::conn::http1::handshake::<_, Full<Bytes>>(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.context("speak to the API server")?;
    let mut is_cut = shared.is_cut.subscribe();
    tokio::spawn(async move {
        tokio::select! {
            biased;
            _ = is_cut.wait_for(|is_cut| *is_cut) => {}
            _ = connection => {}
        }
    });
    sender.send_request(Request::from_parts(head, Full::new(body))).await.context("ask the API server")
}
