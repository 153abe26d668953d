//! A tower layer that counts calls, those without an answer too.

use http::{Method, Request, Response, StatusCode};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::{Layer, Service};

pub trait CallCounter: Send + Sync {
    /// Counts a call to `host` that was answered with `code`; `None`: without an answer.
    fn called(&self, host: &str, method: &Method, code: Option<StatusCode>);
}

#[derive(Clone)]
pub struct CountLayer {
    counter: Arc<dyn CallCounter>,
    host: Arc<str>,
}

impl CountLayer {
    /// A layer that reports calls to `counter`. `host` is an argument because kube adds it to requests only in an inner layer.
    pub fn new(counter: Arc<dyn CallCounter>, host: &str) -> Self {
        Self { counter, host: host.into() }
    }
}

impl<S> Layer<S> for CountLayer {
    type Service = CountedService<S>;

    fn layer(&self, inner: S) -> CountedService<S> {
        CountedService { count: self.clone(), inner }
    }
}

#[derive(Clone)]
pub struct CountedService<S> {
    count: CountLayer,
    inner: S,
}

impl<S, In, Out> Service<Request<In>> for CountedService<S>
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
            count.counter.called(&count.host, &method, answer.as_ref().ok().map(Response::status));
            answer
        })
    }
}

impl CallCounter for () {
    fn called(&self, _host: &str, _method: &Method, _code: Option<StatusCode>) {}
}

#[cfg(test)]
mod tests {
    use super::{CallCounter, CountLayer};
    use http::{Method, Request, Response, StatusCode};
    use std::sync::{Arc, Mutex};
    use tower::{Layer as _, Service as _};

    impl CallCounter for Mutex<Vec<String>> {
        fn called(&self, host: &str, method: &Method, code: Option<StatusCode>) {
            self.lock().unwrap().push(format!("{host} {method} {}", code.map_or(0, |code| code.as_u16())));
        }
    }

    #[tokio::test]
    async fn answers_and_silence_are_counted() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let count = CountLayer::new(Arc::<Mutex<Vec<String>>>::clone(&heard), "host:1");
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
