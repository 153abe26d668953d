//! Decides when the belief is compared with the API server, and logs the results.

use crate::state::{ComparisonCause, ComparisonResult, Input, Note};
use std::time::Duration;
use tokio::time::Instant;

/// At most this many differences are logged; there can be as many as there are pods.
const LOGGED_MAX: usize = 10;

/// When comparisons are due. Without an interval none is due, and the signal is ignored.
pub(super) struct Comparisons {
    every: Option<Duration>,
    rng: fastrand::Rng,
    due: Instant,
    signal: Option<ComparisonSignal>,
}

impl Comparisons {
    pub(super) fn new(every: Option<Duration>, rng: fastrand::Rng) -> Self {
        let signal = every.and_then(|_| ComparisonSignal::listen());
        let mut comparisons = Self { every, rng, due: Instant::now(), signal };
        comparisons.schedule_next();
        comparisons
    }

    /// Done when a comparison is due. Cancel safe: the future can be dropped and created again at any time.
    pub(super) async fn next(&mut self) -> Input {
        let (due, is_periodic) = (self.due, self.every.is_some());
        let asked = async {
            match &mut self.signal {
                Some(signal) => signal.next().await,
                None => std::future::pending().await,
            }
        };
        let cause = tokio::select! {
            biased;
            () = asked => ComparisonCause::Signal,
            () = tokio::time::sleep_until(due), if is_periodic => ComparisonCause::Period,
        };
        if cause == ComparisonCause::Period {
            self.schedule_next();
        }
        Input::Compare(cause)
    }

    /// The next comparison is due after 90 % to 110 % of the interval, so that many clusters do not list at the same time.
    fn schedule_next(&mut self) {
        if let Some(every) = self.every {
            self.due = Instant::now() + every * self.rng.u32(900..=1100) / 1000;
        }
    }
}

pub(super) fn log_results(notes: &[Note]) {
    let compared = notes.iter().filter_map(|note| match note {
        Note::Compared(compared) => Some(compared),
        _ => None,
    });
    for compared in compared {
        match compared {
            ComparisonResult::Equal => tracing::info!("compared with the API server: equal"),
            ComparisonResult::Different(differences) => {
                let shown: Vec<&str> = differences
                    .iter()
                    .take(LOGGED_MAX)
                    .map(|difference| difference.description.as_str())
                    .collect();
                let count = differences.len();
                tracing::error!(count, "compared with the API server: different: {}", shown.join("; "));
            }
            ComparisonResult::Unknown(why) => tracing::warn!("not compared with the API server: {why}"),
        }
    }
}

/// SIGUSR2, which asks for a comparison, as it does in kube-scheduler.
#[cfg(unix)]
struct ComparisonSignal(tokio::signal::unix::Signal);

#[cfg(unix)]
impl ComparisonSignal {
    fn listen() -> Option<Self> {
        let signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::user_defined2());
        signal.inspect_err(|error| tracing::warn!("SIGUSR2 is not heard: {error}")).ok().map(Self)
    }

    async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending().await
        }
    }
}

/// This platform has no SIGUSR2.
#[cfg(not(unix))]
struct ComparisonSignal;

#[cfg(not(unix))]
impl ComparisonSignal {
    fn listen() -> Option<Self> {
        None
    }

    async fn next(&mut self) {
        std::future::pending().await
    }
}
