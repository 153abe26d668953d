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
    host: Arc<str>,
}

impl Count {
    /// A counter that tells `calls` of calls to `host`. What is called has no host yet: kube adds it further inside.
    pub fn new(calls: Arc<dyn Calls>, host: &str) -> Self {
        Self { calls, host: host.into() }
    }
}

impl<S> Layer<S> for Count {
    type Service = Counted<S>;

    fn layer(&self, inner: S) -> Counted<S> {
        Counted { count: self.clone(), inner }
    }
}

/// A client whose calls are counted.
#[derive(Clone)]
pub struct Counted<S> {
    count: Count,
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
        let (count, method) = (self.count.clone(), request.method().clone());
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await;
            count.calls.called(&count.host, &method, answer.as_ref().ok().map(Response::status));
            answer
        })
    }
}

/// Nobody counts.
impl Calls for () {
    fn called(&self, _host: &str, _method: &Method, _code: Option<StatusCode>) {}
}

#[cfg(test)]
mod tests {
    use super::{Calls, Count};
    use http::{Method, Request, Response, StatusCode};
    use std::sync::{Arc, Mutex};
    use tower::{Layer as _, Service as _};

    impl Calls for Mutex<Vec<String>> {
        fn called(&self, host: &str, method: &Method, code: Option<StatusCode>) {
            self.lock().unwrap().push(format!("{host} {method} {}", code.map_or(0, |code| code.as_u16())));
        }
    }

    #[tokio::test]
    async fn answers_and_silence_are_counted() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let count = Count::new(Arc::<Mutex<Vec<String>>>::clone(&heard), "host:1");
        let answer = async |request: Request<()>| match request.uri().path() {
            "/gone" => Ok(Response::builder().status(410).body(()).unwrap()),
            _ => Err("no answer"),
        };
        let mut client = count.layer(tower::service_fn(answer));
        for path in ["/gone", "/silent"] {
            let _ = client.call(Request::post(path).body(()).unwrap()).await;
        }
        assert_eq!(*heard.lock().unwrap(), ["host:1 POST 410", "host:1 POST 0"]);
    }
}
