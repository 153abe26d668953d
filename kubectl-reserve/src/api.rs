//! Requests to the API server: `get` and `write` send one request and return its body with the server's time, `list` reads a list
//! page by page. No request is repeated here.

use crate::connect::Session;
use crate::error::{Exit, Failure};
use common::api::list::page;
use common::model::chain::chain;
use common::model::excerpt::excerpt;
use futures::stream::BoxStream;
use futures::{AsyncBufReadExt as _, StreamExt as _, TryStreamExt as _};
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use kube::client::Body;
use serde::Deserialize;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::Duration;
use std::{fmt, iter};

/// The number of objects in one page of a list.
const PAGE_LEN: usize = 500;

/// The same for lists of metadata, whose objects are small.
const METADATA_PAGE_LEN: usize = 5_000;

pub(crate) const JSON: &str = "application/json";

/// The accept header for lists of metadata alone.
pub(crate) const METADATA: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// The accept header for watches of metadata alone.
const METADATA_OBJECT: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/// The content type of a JSON patch.
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";

/// The content type of a merge patch.
pub(crate) const MERGE_PATCH: &str = "application/merge-patch+json";

/// The content type of a server-side apply.
pub(crate) const APPLY_PATCH: &str = "application/apply-patch+yaml";

#[derive(Debug)]
pub(crate) struct ApiResponse {
    pub(crate) text: String,
    /// The time of the response by the server's clock: its `Date` header.
    pub(crate) at: Option<Timestamp>,
}

/// Why a request failed.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// The server refused the request, so nothing has changed.
    Refused(Box<ErrorStatus>),
    /// There was no response, or one that cannot be read: which of them, and why. A write may have been carried out or not.
    Broken(String),
}

/// The `Status` object with which the server refused a request.
#[derive(Debug, Default)]
pub(crate) struct ErrorStatus {
    pub(crate) code: u16,
    /// The reason, such as `NotFound`; if the server gives none, as a proxy does, the HTTP status.
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) causes: Vec<StatusCause>,
    /// `retryAfterSeconds`, if the server sent it.
    pub(crate) retry_after: Option<Duration>,
}

/// An element of `status.details.causes`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StatusCause {
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) field: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StatusWire {
    reason: String,
    message: String,
    details: DetailsWire,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct DetailsWire {
    causes: Vec<StatusCause>,
    retry_after_seconds: u64,
}

/// Sends a GET request.
pub(crate) async fn get(session: &Session, path: &str, accept: &str) -> Result<ApiResponse, ApiError> {
    let request = Request::get(path).header(header::ACCEPT, accept).body(Vec::new()).map_err(broken)?;
    send(session, request).await
}

/// Sends a request with a body, once.
pub(crate) async fn write(
    session: &Session,
    method: Method,
    path: &str,
    content_type: &str,
    body: String,
) -> Result<ApiResponse, ApiError> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::ACCEPT, JSON)
        .header(header::CONTENT_TYPE, content_type)
        .body(body.into_bytes())
        .map_err(broken)?;
    send(session, request).await
}

async fn send(session: &Session, request: Request<Vec<u8>>) -> Result<ApiResponse, ApiError> {
    let server = &session.server;
    let answer = async {
        let response = begin(session, request).await?;
        let at = date(response.headers());
        Ok(ApiResponse { text: body(session, response).await?, at })
    };
    let too_slow = |limit: Duration| {
        let why = format!("no answer in {} s (--request-timeout)", limit.as_secs());
        ApiError::Broken(format!("{UNREACHABLE} {server}: {why}"))
    };
    match session.timeout {
        Some(limit) => tokio::time::timeout(limit, answer).await.map_err(|_| too_slow(limit))?,
        None => answer.await,
    }
}

/// Sends a request. Returns the successful response, of which the body is still to be read.
async fn begin(session: &Session, request: Request<Vec<u8>>) -> Result<Response<Body>, ApiError> {
    let response = session.client.send(request.map(Body::from)).await;
    let response = response.map_err(|error| unreachable(&session.server, &error))?;
    match response.status() {
        code if code.is_success() => Ok(response),
        code => Err(refused(code, &body(session, response).await?)),
    }
}

async fn body(session: &Session, response: Response<Body>) -> Result<String, ApiError> {
    let body = response.into_body().collect().await;
    let body = body.map_err(|error| unreachable(&session.server, &error))?;
    String::from_utf8(body.to_bytes().into()).map_err(broken)
}

/// Sends a GET request whose answer has no end, such as a watch. Returns the lines of the body.
pub(crate) async fn lines(
    session: &Session,
    path: &str,
) -> Result<BoxStream<'static, io::Result<String>>, ApiError> {
    let request = Request::get(path).header(header::ACCEPT, METADATA_OBJECT).body(Vec::new());
    let body = begin(session, request.map_err(broken)?).await?.into_body().into_data_stream();
    Ok(body.map_err(io::Error::other).into_async_read().lines().boxed())
}

/// The metadata of a list.
#[derive(Debug, Default)]
pub(crate) struct ListMeta {
    /// The time of the last page by the server's clock.
    pub(crate) at: Option<Timestamp>,
    /// The `resourceVersion` of the list.
    pub(crate) version: String,
}

/// Reads all pages of a list, and calls `each` with the JSON of each object.
pub(crate) async fn list(
    session: &Session,
    path: &str,
    query: &str,
    accept: &str,
    mut each: impl FnMut(&str) -> Result<(), String>,
) -> Result<ListMeta, ApiError> {
    let mut next = String::new();
    let limit = if accept == METADATA { METADATA_PAGE_LEN } else { PAGE_LEN };
    loop {
        let answer = get(session, &format!("{path}?limit={limit}&continue={next}&{query}"), accept).await?;
        let page = page(&answer.text).map_err(broken)?;
        for json in &page.items {
            each(json).map_err(|why| unreadable(&why))?;
        }
        match page.next {
            Some(token) => next = token.into_owned(),
            None => return Ok(ListMeta { at: answer.at, version: page.resource_version.into_owned() }),
        }
    }
}

impl ApiError {
    /// The HTTP status, if the server refused the request.
    pub(crate) fn code(&self) -> Option<u16> {
        match self {
            Self::Refused(refused) => Some(refused.code),
            Self::Broken(_) => None,
        }
    }

    /// The error of a command that wanted to do `what`, for which it needs the right `needs`.
    pub(crate) fn into_failure(self, what: &str, needs: &str) -> Failure {
        match self {
            Self::Refused(refused) if refused.code == 403 => {
                Failure::new(format!("Error from server (Forbidden): {}", refused.message))
                    .hint(format!("ask an administrator for: {needs}"))
                    .exit(Exit::Forbidden)
            }
            Self::Refused(refused) if refused.code == 401 => {
                Failure::new("You must be logged in to the server (Unauthorized)")
                    .hint("check your kubeconfig's credentials")
            }
            Self::Refused(refused) => Failure::new(format!("{refused} ({what})")),
            Self::Broken(why) => Failure::new(format!("{why} ({what})")),
        }
    }
}

impl ErrorStatus {
    /// Whether the API server says that the object does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        self.reason == "NotFound"
    }
}

impl fmt::Display for ErrorStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error from server ({}): {}", self.reason, self.message)
    }
}

fn refused(code: StatusCode, text: &str) -> ApiError {
    let status: StatusWire = serde_json::from_str(text).unwrap_or_default();
    let message = match text.trim() {
        _ if !status.message.is_empty() => status.message,
        "" => "the answer is empty".to_owned(),
        page if page.starts_with('<') => "the answer is a web page, not that of an API server".to_owned(),
        text => excerpt(text, 200),
    };
    let seconds = status.details.retry_after_seconds;
    ApiError::Refused(Box::new(ErrorStatus {
        code: code.as_u16(),
        reason: if status.reason.is_empty() { code.to_string() } else { status.reason },
        message,
        causes: status.details.causes,
        retry_after: (seconds > 0).then(|| Duration::from_secs(seconds)),
    }))
}

fn date(headers: &HeaderMap) -> Option<Timestamp> {
    let date = headers.get(header::DATE)?.to_str().ok()?;
    rfc2822::DateTimeParser::new().parse_timestamp(date).ok()
}

/// The beginning of the error if the server cannot be reached, as in kubectl.
pub(crate) const UNREACHABLE: &str = "Unable to connect to the server";

/// The beginning of the error if the server refuses connections, as in kubectl.
pub(crate) const NO_CONNECTION: &str = "The connection to the server";

fn unreachable(server: &str, error: &(dyn Error + 'static)) -> ApiError {
    let causes = || iter::successors(Some(error), |&error| error.source());
    let is_refusal = |error: &(dyn Error + 'static)| {
        error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    };
    if causes().any(is_refusal) {
        let question = "did you specify the right host or port?";
        return ApiError::Broken(format!("{NO_CONNECTION} {server} was refused - {question}"));
    }
    let root = causes().last().map(ToString::to_string).unwrap_or_default();
    ApiError::Broken(format!("{UNREACHABLE} {server}: {root}"))
}

/// The error for an answer that cannot be read.
pub(crate) fn broken(error: impl Error) -> ApiError {
    unreadable(&chain(&error))
}

fn unreadable(why: &str) -> ApiError {
    ApiError::Broken(format!("the server's answer cannot be read: {why}"))
}
