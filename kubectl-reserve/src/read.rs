//! Reading from the API server: pages of lists, with the server's own time.

use crate::connect::Session;
use crate::error::{Exit, Failure};
use common::api::list::{page, status};
use common::model::chain::chain;
use http::{HeaderMap, Request, header};
use http_body_util::BodyExt;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use kube::client::Body;
use std::error::Error;
use std::time::Duration;

/// Objects in one page.
const PAGE_LEN: usize = 500;

/// One answer.
pub(crate) struct Answer {
    /// Its text.
    pub(crate) text: String,
    /// When the server gave it, by its own clock.
    pub(crate) at: Option<Timestamp>,
}

/// Why a read failed.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The server answered with this status and message.
    Refused { code: u16, message: String },
    /// There was no answer, or none that makes sense.
    Broken(String),
}

/// Reads one thing.
pub(crate) async fn get(session: &Session, path: &str, accept: &str) -> Result<Answer, ReadError> {
    let request =
        Request::get(path).header(header::ACCEPT, accept).body(Body::from(Vec::new())).map_err(broken)?;
    let answer = async {
        let response = session.client.send(request).await.map_err(broken)?;
        let (code, at) = (response.status(), date(response.headers()));
        let body = response.into_body().collect().await.map_err(broken)?.to_bytes();
        let text = String::from_utf8(body.into()).map_err(broken)?;
        if code.is_success() {
            Ok(Answer { text, at })
        } else {
            Err(ReadError::Refused { code: code.as_u16(), message: status(&text) })
        }
    };
    match session.timeout {
        Some(limit) => tokio::time::timeout(limit, answer).await.map_err(|_| too_slow(limit))?,
        None => answer.await,
    }
}

/// Reads all pages of a list, handing each object's JSON to `each`. Returns when the server gave the last page.
pub(crate) async fn list(
    session: &Session,
    path: &str,
    query: &str,
    accept: &str,
    mut each: impl FnMut(&str) -> Result<(), String>,
) -> Result<Option<Timestamp>, ReadError> {
    let mut next = String::new();
    loop {
        let answer =
            get(session, &format!("{path}?limit={PAGE_LEN}&continue={next}&{query}"), accept).await?;
        let page = page(&answer.text).map_err(broken)?;
        for json in &page.items {
            each(json).map_err(ReadError::Broken)?;
        }
        match page.next {
            Some(token) => next = token.into_owned(),
            None => return Ok(answer.at),
        }
    }
}

impl ReadError {
    /// Puts it into words for somebody who wanted `what`.
    pub(crate) fn into_failure(self, what: &str, needs: &str) -> Failure {
        match self {
            Self::Refused { code: 403, message } => {
                Failure::new(format!("Error from server (Forbidden): {message}"))
                    .hint(format!("ask an administrator for: {needs}"))
                    .exit(Exit::Forbidden)
            }
            Self::Refused { code: 401, .. } => {
                Failure::new("You must be logged in to the server (Unauthorized)")
                    .hint("check your kubeconfig's credentials")
            }
            Self::Refused { message, .. } => Failure::new(format!("{what}: {message}")),
            Self::Broken(why) => {
                Failure::new(format!("{what}: {why}")).hint("is the API server up? try: kubectl cluster-info")
            }
        }
    }
}

fn date(headers: &HeaderMap) -> Option<Timestamp> {
    let date = headers.get(header::DATE)?.to_str().ok()?;
    rfc2822::DateTimeParser::new().parse_timestamp(date).ok()
}

fn broken(error: impl Error) -> ReadError {
    ReadError::Broken(chain(&error))
}

fn too_slow(limit: Duration) -> ReadError {
    ReadError::Broken(format!("no answer in {} s (--request-timeout)", limit.as_secs()))
}
