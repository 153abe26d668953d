//! A tower layer that limits the rate of requests: `qps` a second on average, `burst` at once. More requests wait.
//!
//! Requests are sent in the order of the calls. Starting a watch counts as one request, as in kube-scheduler; its events do not.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tower::{Layer, Service};

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

    /// A layer whose limit all clones of one client share.
    pub(super) fn layer(self) -> LimitLayer {
        LimitLayer { limit: self, next_at: Arc::default() }
    }
}

#[derive(Debug, Clone)]
pub(super) struct LimitLayer {
    limit: Limit,
    /// When the next request would be due if all requests so far had been sent at the average interval.
    next_at: Arc<Mutex<Option<Instant>>>,
}

impl LimitLayer {
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

impl<S> Layer<S> for LimitLayer {
    type Service = LimitedService<S>;

    fn layer(&self, inner: S) -> LimitedService<S> {
        LimitedService { layer: self.clone(), inner }
    }
}

#[derive(Debug, Clone)]
pub(super) struct LimitedService<S> {
    layer: LimitLayer,
    inner: S,
}

impl<S, Request> Service<Request> for LimitedService<S>
where
    S: Service<Request>,
    S::Future: Send + 'static,
    S::Error: 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let send_at = self.layer.next_send_time();
        // Calling the service sends nothing; polling the future does.
        let answer = self.inner.call(request);
        Box::pin(async move {
            sleep_until(send_at).await;
            answer.await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Limit;
    use std::convert::Infallible;
    use std::time::Duration;
    use tokio::time::Instant;
    use tower::{Layer as _, Service as _};

    /// The milliseconds after which each of `count` requests that are made at once is sent.
    async fn sent(limit: Limit, count: usize) -> Vec<u128> {
        let started = Instant::now();
        let send = move |()| async move { Ok::<_, Infallible>(started.elapsed().as_millis()) };
        let mut client = limit.layer().layer(tower::service_fn(send));
        let calls: Vec<_> = (0..count).map(|_| client.call(())).collect();
        futures::future::join_all(calls).await.into_iter().map(Result::unwrap).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_goes_at_once_and_the_rest_at_its_distance() {
        assert_eq!(sent(Limit::new(10.0, 3), 6).await, [0, 0, 0, 100, 200, 300]);
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_rest_there_is_a_burst_again_and_no_more() {
        let limit = Limit::new(10.0, 2).layer();
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
}
