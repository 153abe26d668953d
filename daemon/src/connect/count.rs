//! Counts the calls that were answered, and those that were not.

use http::{Method, Request, Response, StatusCode};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::{Layer, Service};

/// Whoever counts calls.
pub trait Calls: Send + Sync {
    /// A call to `host` was answered with `code`, or not at all.
    fn called(&self, host: &str, method: &Method, code: Option<StatusCode>);
}

/// Puts a counter in front of a client.
#[derive(Clone)]
pub struct Count {
    calls: Arc<dyn Calls>,
}

impl Count {
    /// A counter that tells `calls`.
    pub fn new(calls: Arc<dyn Calls>) -> Self {
        Self { calls }
    }
}

impl<S> Layer<S> for Count {
    type Service = Counted<S>;

    fn layer(&self, inner: S) -> Counted<S> {
        Counted { calls: Arc::clone(&self.calls), inner }
    }
}

/// A client whose calls are counted.
#[derive(Clone)]
pub struct Counted<S> {
    calls: Arc<dyn Calls>,
    inner: S,
}

impl<S, In, Out> Service<Request<In>> for Counted<S>
where
    S: Service<Request<In>, Response = Response<Out>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    Out: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<In>) -> Self::Future {
        let host = request.uri().authority().map_or_else(String::new, ToString::to_string);
        let (calls, method) = (Arc::clone(&self.calls), request.method().clone());
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await;
            calls.called(&host, &method, answer.as_ref().ok().map(Response::status));
            answer
        })
    }
}

/// Nobody counts.
impl Calls for () {
    fn called(&self, _host: &str, _method: &Method, _code: Option<StatusCode>) {}
}
