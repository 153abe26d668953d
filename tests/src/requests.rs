//! Single write requests to an API server that return refusals as values: [`patch`], [`strategic`], [`ask`].

use anyhow::{Context as _, Result};
use http::{Method, Request};
use kube::Client;
use serde_json::{Value, json};

/// The API server's answer to a request.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status code.
    pub code: u16,
    /// The message of a refusal.
    pub message: String,
}

/// A merge patch that sets one annotation.
pub fn as_annotation(key: &str, value: &str) -> Value {
    json!({"metadata": {"annotations": {key: value}}})
}

/// A merge patch that removes one annotation.
pub fn without_annotation(key: &str) -> Value {
    json!({"metadata": {"annotations": {key: null}}})
}

/// Sends a merge patch.
///
/// # Errors
/// When there is no answer.
pub async fn patch(client: &Client, path: &str, change: &Value) -> Result<Answer> {
    ask(client, Method::PATCH, path, change).await
}

/// Sends a strategic merge patch, as our daemon does for the status of pods.
///
/// # Errors
/// When there is no answer.
pub async fn strategic(client: &Client, path: &str, change: &Value) -> Result<Answer> {
    send(client, Method::PATCH, path, "application/strategic-merge-patch+json", change).await
}

/// Sends a request with a body; a patch is a merge patch.
///
/// # Errors
/// When there is no answer.
pub async fn ask(client: &Client, method: Method, path: &str, body: &Value) -> Result<Answer> {
    let content = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    send(client, method, path, content, body).await
}

async fn send(client: &Client, method: Method, path: &str, content: &str, body: &Value) -> Result<Answer> {
    let request = Request::builder().method(method).uri(path).header(http::header::CONTENT_TYPE, content);
    let request = request.body(serde_json::to_vec(body)?).context("make a request")?;
    match client.request::<Value>(request).await {
        Ok(_) => Ok(Answer { code: 200, message: String::new() }),
        Err(kube::Error::Api(status)) => Ok(Answer { code: status.code, message: status.message.clone() }),
        Err(error) => Err(error).context("ask the API server"),
    }
}
