//! Creates many objects with parallel calls, as fast as the API server accepts them.

use anyhow::{Context as _, Result, anyhow};
use http::{Request, header};
use kube::Client;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::task::JoinSet;

/// Parallel calls. More would only wait in the API server.
pub(crate) const CALLS_MAX: usize = 32;

/// Posts the objects with the numbers 0 to `count` to the paths that `make` gives them.
pub(crate) async fn post(
    client: &Client,
    count: usize,
    make: impl Fn(usize) -> (String, Value) + Send + Sync + 'static,
) -> Result<()> {
    let (next, make) = (Arc::new(AtomicUsize::new(0)), Arc::new(make));
    let mut workers: JoinSet<Result<()>> = JoinSet::new();
    for _ in 0..CALLS_MAX {
        let (client, next, make) = (client.clone(), next.clone(), make.clone());
        workers.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return Ok(());
                }
                let (path, object) = make(number);
                post_one(&client, &path, &object).await?;
            }
        });
    }
    while let Some(ended) = workers.join_next().await {
        ended.map_err(|error| anyhow!("make an object: {error}"))??;
    }
    Ok(())
}

/// Posts one object. Of the answer only the status code is looked at.
pub(crate) async fn post_one(client: &Client, path: &str, object: &Value) -> Result<()> {
    let request = Request::post(path)
        .header(header::CONTENT_TYPE, "application/json")
        .body(object.to_string().into_bytes())
        .context("make a request")?;
    client.request_text(request).await.map(drop).with_context(|| format!("post to {path}"))
}
