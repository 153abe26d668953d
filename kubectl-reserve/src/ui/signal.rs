//! Ctrl-C and other requests to stop, as values that a flow awaits beside its other work. Entry point: [`StopRequests::listen`].

use super::embedded;
use crate::error::{Exit, Failure};
use crate::platform::{Signal, Signals};
use futures::FutureExt as _;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::{Notify, watch};

/// How many [`StopRequests`] exist. While one exists, its holder decides what Ctrl-C does.
static LISTENERS: AtomicU32 = AtomicU32::new(0);

/// Notified when the program takes the signals over, so that they no longer end it by themselves.
static TAKEN_OVER: Notify = Notify::const_new();

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StopRequest {
    /// The signal; [`Signal::Interrupt`] if the host program requests the stop.
    pub(crate) by: Signal,
    /// How many requests there were, this one included. 1: stop and clean up. 2: leave everything as it is.
    pub(crate) count: u32,
}

/// The requests to stop. While this value exists, Ctrl-C does not end the program: its holder must poll it.
pub(crate) struct StopRequests {
    source: Source,
    count: u32,
}

/// Where requests come from.
enum Source {
    Process(Signals),
    /// The program that the command runs inside.
    Host(watch::Receiver<u32>),
}

impl StopRequests {
    pub(crate) fn listen() -> Result<Self, Failure> {
        let source = match embedded::stop_requests() {
            Some(stops) => Source::Host(stops),
            None => Source::Process(take_over()?),
        };
        LISTENERS.fetch_add(1, Ordering::Relaxed);
        Ok(Self { source, count: 0 })
    }

    /// The next request. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> StopRequest {
        let by = match &mut self.source {
            Source::Process(signals) => signals.next().await,
            Source::Host(stops) => match stops.changed().await {
                Ok(()) => Signal::Interrupt,
                Err(_) => std::future::pending().await,
            },
        };
        self.count = self.count.saturating_add(1);
        StopRequest { by, count: self.count }
    }

    /// Fails if a stop was requested since the last call.
    pub(crate) fn check(&mut self) -> Result<(), Failure> {
        self.next().now_or_never().map_or(Ok(()), |_| Err(interrupted()))
    }

    /// The result of `work`; an error if a stop is requested first. Then `work` is dropped, so it must be safe to leave undone.
    pub(crate) async fn unless<T>(
        &mut self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        tokio::select! {
            biased;
            _ = self.next() => Err(interrupted()),
            done = work => done,
        }
    }
}

fn interrupted() -> Failure {
    Failure::new("interrupted").exit(Exit::Interrupted)
}

impl Drop for StopRequests {
    fn drop(&mut self) {
        LISTENERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Takes the signals over from the system, whose default is to end the program at once. This cannot be undone, so from now on
/// [`unhandled_signal`] ends the program when there is no other listener.
pub(super) fn take_over() -> Result<Signals, Failure> {
    let signals = Signals::listen().map_err(|error| Failure::new(format!("listen for Ctrl-C: {error}")))?;
    TAKEN_OVER.notify_one();
    Ok(signals)
}

/// Returns at the first signal that no [`StopRequests`] listens to. It ignores signals as long as the system handles them.
pub(crate) async fn unhandled_signal() {
    TAKEN_OVER.notified().await;
    let Ok(mut signals) = Signals::listen() else { return };
    loop {
        signals.next().await;
        if LISTENERS.load(Ordering::Relaxed) == 0 {
            return;
        }
    }
}
