//! The two HTTP calls of a watch: a GET with one answer ([`get`]), and a GET answered line by line ([`Lines`]).

use super::WatchedKind;
use crate::clock::Clock;
use ::http::{Request, Response, header};
use bytes::BytesMut;
use common::api::DecodeError;
use common::api::list::status;
use common::model::chain::chain;
use futures::StreamExt;
use futures::stream::BoxStream;
use http_body_util::BodyExt;
use kube::client::Body;
use std::time::Duration;

/// How long a page of a list may take; big clusters with busy servers need a while.
const LIST_DEADLINE: Duration = Duration::from_secs(60);

/// The longest line of a watch. The API server stores no object larger than a few MiB, so a longer line is an error.
const LINE_LEN_MAX: usize = 16 << 20;

#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("the API server answered {code}: {message}")]
    Refused { code: u16, message: String },
    #[error("no answer from the API server: {0}")]
    Broken(String),
    /// The answer is not JSON of the expected form.
    #[error("{0}: {source}", source = .0.source)]
    Decode(#[from] DecodeError),
}

/// Reads one whole answer.
pub(super) async fn get<T>(
    client: &kube::Client,
    clock: &Clock,
    kind: &WatchedKind<T>,
    query: &str,
) -> Result<String, CallError> {
    let answer = async {
        let response = send(client, clock, kind.accept.0, &address(kind, query)).await?;
        let body = response.into_body().collect().await.map_err(broken)?.to_bytes();
        String::from_utf8(body.into()).map_err(broken)
    };
    tokio::time::timeout(LIST_DEADLINE, answer).await.map_err(broken)?
}

/// An answer that comes line by line.
pub(super) struct Lines {
    chunks: BoxStream<'static, Result<bytes::Bytes, kube::Error>>,
    buffer: BytesMut,
    idle: Duration,
}

impl Lines {
    /// Starts a call. Reading fails when nothing arrives for as long as `idle`.
    pub(super) async fn open<T>(
        client: &kube::Client,
        clock: &Clock,
        kind: &WatchedKind<T>,
        query: &str,
        idle: Duration,
    ) -> Result<Self, CallError> {
        let response =
            tokio::time::timeout(LIST_DEADLINE, send(client, clock, kind.accept.1, &address(kind, query)))
                .await
                .map_err(broken)??;
        let chunks = response.into_body().into_data_stream().boxed();
        Ok(Self { chunks, buffer: BytesMut::new(), idle })
    }

    /// The next line; `None` at the end of the answer. An incomplete last line is dropped: its event comes again.
    pub(super) async fn next(&mut self) -> Result<Option<String>, CallError> {
        let mut searched = 0;
        loop {
            if let Some(end) = self.buffer[searched..].iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(searched + end + 1);
                return String::from_utf8(line.to_vec()).map(Some).map_err(broken);
            }
            searched = self.buffer.len();
            if searched > LINE_LEN_MAX {
                return Err(CallError::Broken(format!("a line of more than {LINE_LEN_MAX} bytes")));
            }
            match tokio::time::timeout(self.idle, self.chunks.next()).await.map_err(broken)? {
                Some(chunk) => self.buffer.extend_from_slice(&chunk.map_err(broken)?),
                None => return Ok(None),
            }
        }
    }
}

fn address<T>(kind: &WatchedKind<T>, query: &str) -> String {
    format!("{}?{query}", kind.path)
}

async fn send(
    client: &kube::Client,
    clock: &Clock,
    accept: &str,
    address: &str,
) -> Result<Response<Body>, CallError> {
    let request =
        Request::get(address).header(header::ACCEPT, accept).body(Body::from(Vec::new())).map_err(broken)?;
    let response = client.send(request).await.map_err(broken)?;
    clock.learn(response.headers());
    let code = response.status();
    if code.is_success() {
        return Ok(response);
    }
    let body = response.into_body().collect().await.map_err(broken)?.to_bytes();
    Err(CallError::Refused { code: code.as_u16(), message: status(&String::from_utf8_lossy(&body)) })
}

fn broken(error: impl std::error::Error) -> CallError {
    CallError::Broken(chain(&error))
}
