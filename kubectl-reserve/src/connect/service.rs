//! A tower service around the client, which every request passes: it adds the credential, and with `-v 6` prints the request, its
//! status and how long it took. Headers and bodies are never printed, because they may contain secrets.

use super::credential::Credential;
use super::host_and_port;
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

/// From this verbosity on, each request is printed.
const VERBOSITY_URLS: u8 = 6;

/// The client, with a credential that may have to be renewed.
#[derive(Clone)]
pub(super) struct Service {
    client: kube::Client,
    credential: Option<Arc<Credential>>,
    log: RequestLog,
}

/// Prints each request, if the verbosity is high enough.
#[derive(Clone)]
pub(super) struct RequestLog {
    is_on: bool,
    /// The URL of the server, without a final slash and without user info.
    server: Arc<str>,
}

impl Service {
    pub(super) fn new(client: kube::Client, credential: Option<Credential>, log: RequestLog) -> Self {
        Self { client, credential: credential.map(Arc::new), log }
    }

    async fn send(self, mut request: Request<Body>) -> Result<Response<Body>, Box<dyn Error + Send + Sync>> {
        if let Some(credential) = &self.credential
            && let Some(value) = credential.header().await.map_err(into_boxed)?
        {
            request.headers_mut().insert(header::AUTHORIZATION, value);
        }
        let (method, uri, begin) = (request.method().clone(), request.uri().clone(), Instant::now());
        let outcome = self.client.send(request).await;
        let status = outcome.as_ref().ok().map(Response::status);
        self.log.print(&method, &uri, status, begin);
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
        self.clone().send(request).boxed()
    }
}

impl RequestLog {
    pub(super) fn new(server: &Uri, verbosity: u8) -> Self {
        let host = server.authority().map_or("", host_and_port);
        let scheme = server.scheme_str().unwrap_or("https");
        let path = server.path().trim_end_matches('/');
        Self { is_on: verbosity >= VERBOSITY_URLS, server: format!("{scheme}://{host}{path}").into() }
    }

    fn print(&self, method: &Method, uri: &Uri, status: Option<StatusCode>, begin: Instant) {
        if !self.is_on {
            return;
        }
        let status = status.map_or_else(String::new, |status| status.to_string());
        let took = begin.elapsed().as_millis();
        let url = format!("{}{uri}", self.server);
        printer::say_always(&format!(
            "\"Response\" verb=\"{method}\" url=\"{url}\" status=\"{status}\" milliseconds={took}"
        ));
    }
}

fn into_boxed(failure: Failure) -> Box<dyn Error + Send + Sync> {
    failure.message.unwrap_or_default().into()
}
