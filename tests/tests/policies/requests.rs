//! Single requests, and the answers to them as they are.

use anyhow::{Context as _, Result};
use http::{Method, Request};
use kube::Client;
use serde_json::{Value, json};

/// What the API server answered.
#[derive(Debug)]
pub(crate) struct Said {
    /// The HTTP status code.
    pub(crate) code: u16,
    /// The message of a refusal.
    pub(crate) message: String,
}

/// A merge patch that sets one annotation.
pub(crate) fn as_annotation(key: &str, value: &str) -> Value {
    json!({"metadata": {"annotations": {key: value}}})
}

/// A merge patch.
pub(crate) async fn patch(client: &Client, path: &str, change: &Value) -> Result<Said> {
    ask(client, Method::PATCH, path, change).await
}

/// A request with a body.
pub(crate) async fn ask(client: &Client, method: Method, path: &str, body: &Value) -> Result<Said> {
    let content = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let request = Request::builder().method(method).uri(path).header(http::header::CONTENT_TYPE, content);
    let request = request.body(serde_json::to_vec(body)?).context("make a request")?;
    match client.request::<Value>(request).await {
        Ok(_) => Ok(Said { code: 200, message: String::new() }),
        Err(kube::Error::Api(status)) => Ok(Said { code: status.code, message: status.message.clone() }),
        Err(error) => Err(error).context("ask the API server"),
    }
}
