//! When the belief is compared with the API server, and what the log says about it.

use crate::state::{Cause, Compared, Input, Note};
use std::time::Duration;
use tokio::time::Instant;

/// So many differences are written into the log; there can be as many as there are pods.
const SHOWN_MAX: usize = 10;

/// When comparisons are due. Nothing is due, and no signal is heard, without an interval.
pub(super) struct Comparisons {
    every: Option<Duration>,
    rng: fastrand::Rng,
    due: Instant,
    signal: Option<Usr2>,
}

impl Comparisons {
    pub(super) fn new(every: Option<Duration>, rng: fastrand::Rng) -> Self {
        let signal = every.and_then(|_| Usr2::listen());
        let mut comparisons = Self { every, rng, due: Instant::now(), signal };
        comparisons.plan();
        comparisons
    }

    /// Done when a comparison is due. It can be dropped and called again at any time.
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
            () = asked => Cause::Signal,
            () = tokio::time::sleep_until(due), if is_periodic => Cause::Period,
        };
        if cause == Cause::Period {
            self.plan();
        }
        Input::Compare(cause)
    }

    /// The next one comes after nine to eleven tenths of the interval, so that many clusters do not list at the same time.
    fn plan(&mut self) {
        if let Some(every) = self.every {
            self.due = Instant::now() + every * self.rng.u32(900..=1100) / 1000;
        }
    }
}

/// Writes into the log what came of comparisons.
pub(super) fn tell(notes: &[Note]) {
    let compared = notes.iter().filter_map(|note| match note {
        Note::Compared(compared) => Some(compared),
        _ => None,
    });
    for compared in compared {
        match compared {
            Compared::Equal => tracing::info!("compared with the API server: equal"),
            Compared::Different(differences) => {
                let shown: Vec<&str> =
                    differences.iter().take(SHOWN_MAX).map(|difference| difference.what.as_str()).collect();
                let count = differences.len();
                tracing::error!(count, "compared with the API server: different: {}", shown.join("; "));
            }
            Compared::Unknown(why) => tracing::warn!("not compared with the API server: {why}"),
        }
    }
}

/// The signal that asks for a comparison, as it asks kube-scheduler for one.
#[cfg(unix)]
struct Usr2(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Usr2 {
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

/// There is no such signal.
#[cfg(not(unix))]
struct Usr2;

#[cfg(not(unix))]
impl Usr2 {
    fn listen() -> Option<Self> {
        None
    }

    async fn next(&mut self) {
        std::future::pending().await
    }
}
