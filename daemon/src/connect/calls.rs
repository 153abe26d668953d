//! A tower layer for the calls to the API server: it limits their rate to `qps` a second on average and `burst` at once, and counts
//! them, those without an answer too.
//!
//! Requests are sent in the order of the calls. Starting a watch counts as one request, as in kube-scheduler; its events do not.

use http::{Method, Request, Response, StatusCode};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tower::{Layer, Service};

pub trait CallCounter: Send + Sync {
    /// Counts a call to `host` that was answered with `code`; `None`: without an answer.
    fn called(&self, host: &str, method: &Method, code: Option<StatusCode>);
}

impl CallCounter for () {
    fn called(&self, _host: &str, _method: &Method, _code: Option<StatusCode>) {}
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The average time between two requests; zero: no limit.
    interval: Duration,
    /// How many requests may be sent at once.
    burst: u32,
}

impl Limit {
    /// `qps` requests a second, and `burst` at once. A negative `qps` means no limit, as in client-go.
    pub fn new(qps: f32, burst: i32) -> Self {
        let interval = Duration::try_from_secs_f64(f64::from(qps).recip()).unwrap_or_default();
        Self { interval, burst: u32::try_from(burst).unwrap_or_default().max(1) }
    }
}

#[derive(Clone)]
pub(super) struct CallLayer {
    counter: Arc<dyn CallCounter>,
    host: Arc<str>,
    limit: Limit,
    /// When the next request would be due if all requests so far had been sent at the average interval. All clones of one client
    /// share it.
    next_at: Arc<Mutex<Option<Instant>>>,
}

impl CallLayer {
    /// A layer that reports calls to `counter`. `host` is an argument because kube adds it to requests only in an inner layer.
    pub(super) fn new(counter: Arc<dyn CallCounter>, host: &str, limit: Limit) -> Self {
        Self { counter, host: host.into(), limit, next_at: Arc::default() }
    }

    /// Reserves the next request, and returns when it may be sent.
    fn next_send_time(&self) -> Instant {
        let now = Instant::now();
        if self.limit.interval.is_zero() {
            return now;
        }
        let mut next_at = self.next_at.lock().unwrap_or_else(PoisonError::into_inner);
        let next = next_at.map_or(now, |until| until.max(now)) + self.limit.interval;
        *next_at = Some(next);
        next.checked_sub(self.limit.interval.saturating_mul(self.limit.burst))
            .map_or(now, |time| time.max(now))
    }
}

impl<S> Layer<S> for CallLayer {
    type Service = CallService<S>;

    fn layer(&self, inner: S) -> CallService<S> {
        CallService { layer: self.clone(), inner }
    }
}

#[derive(Clone)]
pub(super) struct CallService<S> {
    layer: CallLayer,
    inner: S,
}

impl<S, In, Out> Service<Request<In>> for CallService<S>
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
        let (layer, method) = (self.layer.clone(), request.method().clone());
        let send_at = layer.next_send_time();
        // Calling the service sends nothing; polling the future does.
        let answer = self.inner.call(request);
        Box::pin(async move {
            sleep_until(send_at).await;
            let answer = answer.await;
            layer.counter.called(&layer.host, &method, answer.as_ref().ok().map(Response::status));
            answer
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{CallCounter, CallLayer, Limit};
    use http::{Method, Request, Response, StatusCode};
    use std::convert::Infallible;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;
    use tokio::time::Instant;
    use tower::{Layer as _, Service as _};

    fn layer(limit: Limit) -> CallLayer {
        CallLayer::new(Arc::new(()), "host:1", limit)
    }

    /// The milliseconds after which each of `count` requests that are made at once is sent.
    async fn sent(limit: Limit, count: usize) -> Vec<u128> {
        let started = Instant::now();
        let send = move |_: Request<()>| async move {
            Ok::<_, Infallible>(Response::new(started.elapsed().as_millis()))
        };
        let mut client = layer(limit).layer(tower::service_fn(send));
        let calls: Vec<_> = (0..count).map(|_| client.call(Request::new(()))).collect();
        let answers = futures::future::join_all(calls).await;
        answers.into_iter().map(|answer| answer.unwrap().into_body()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_goes_at_once_and_the_rest_at_its_distance() {
        assert_eq!(sent(Limit::new(10.0, 3), 6).await, [0, 0, 0, 100, 200, 300]);
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_rest_there_is_a_burst_again_and_no_more() {
        let limit = layer(Limit::new(10.0, 2));
        let waits = || limit.next_send_time().saturating_duration_since(Instant::now()).as_millis();
        assert_eq!([waits(), waits(), waits()], [0, 0, 100]);
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!([waits(), waits(), waits()], [0, 0, 100]);
    }

    #[tokio::test(start_paused = true)]
    async fn numbers_without_sense_limit_nothing_or_one() {
        assert_eq!(sent(Limit::new(-1.0, 1), 4).await, [0, 0, 0, 0], "a negative rate is no limit");
        assert_eq!(sent(Limit::new(f32::NAN, 1), 2).await, [0, 0]);
        assert_eq!(sent(Limit::new(1.0, -5), 2).await, [0, 1000], "one at a time");
        assert_eq!(Limit::new(5000.0, 5000).interval, Duration::from_micros(200));
    }

    impl CallCounter for Mutex<Vec<String>> {
        fn called(&self, host: &str, method: &Method, code: Option<StatusCode>) {
            self.lock().unwrap().push(format!("{host} {method} {}", code.map_or(0, |code| code.as_u16())));
        }
    }

    #[tokio::test]
    async fn answers_and_silence_are_counted() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let count = CallLayer::new(Arc::<Mutex<Vec<String>>>::clone(&heard), "host:1", Limit::new(-1.0, 1));
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
