//! What every request passes: the credential is added, and `-v 6` says what was asked and how long the answer took. Headers
//! and bodies are never shown, so no secret is.

use super::credential::Credential;
use crate::error::Failure;
use crate::ui::printer;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Method, Request, Response, StatusCode, Uri, header};
use kube::client::Body;
use std::error::Error;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::Instant;

/// From this `-v` on, each request is told.
const VERBOSITY_URLS: u8 = 6;

/// The client below, with a credential that may have to be asked for again.
#[derive(Clone)]
pub(super) struct Service {
    client: kube::Client,
    credential: Option<Arc<Credential>>,
    log: Log,
}

/// What is told about each request.
#[derive(Clone)]
pub(super) struct Log {
    is_on: bool,
    /// The server's address, without a final slash and without anything secret in it.
    server: Arc<str>,
}

impl Service {
    pub(super) fn new(client: kube::Client, credential: Option<Credential>, log: Log) -> Self {
        Self { client, credential: credential.map(Arc::new), log }
    }

    async fn answer(
        self,
        mut request: Request<Body>,
    ) -> Result<Response<Body>, Box<dyn Error + Send + Sync>> {
        if let Some(credential) = &self.credential
            && let Some(value) = credential.header().await.map_err(told)?
        {
            request.headers_mut().insert(header::AUTHORIZATION, value);
        }
        let (method, uri, begin) = (request.method().clone(), request.uri().clone(), Instant::now());
        let outcome = self.client.send(request).await;
        let status = outcome.as_ref().ok().map(Response::status);
        self.log.tell(&method, &uri, status, begin);
        Ok(outcome?)
    }
}

impl tower::Service<Request<Body>> for Service {
    type Response = Response<Body>;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.clone().answer(request).boxed()
    }
}

impl Log {
    pub(super) fn new(server: &Uri, verbosity: u8) -> Self {
        let authority = server.authority().map_or("", |authority| authority.as_str());
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let scheme = server.scheme_str().unwrap_or("https");
        let path = server.path().trim_end_matches('/');
        Self { is_on: verbosity >= VERBOSITY_URLS, server: format!("{scheme}://{host}{path}").into() }
    }

    fn tell(&self, method: &Method, uri: &Uri, status: Option<StatusCode>, begin: Instant) {
        if !self.is_on {
            return;
        }
        let status = status.map_or_else(String::new, |status| status.to_string());
        let took = begin.elapsed().as_millis();
        let url = format!("{}{uri}", self.server);
        printer::tell(&format!(
            "\"Response\" verb=\"{method}\" url=\"{url}\" status=\"{status}\" milliseconds={took}"
        ));
    }
}

fn told(failure: Failure) -> Box<dyn Error + Send + Sync> {
    failure.message.unwrap_or_default().into()
}
