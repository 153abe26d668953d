//! Ctrl-C as a value: how often, and by whom. A flow asks for the next one beside whatever else it waits for.

use super::inside;
use crate::error::{Exit, Failure};
use crate::platform::{Signal, Signals};
use futures::FutureExt as _;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::{Notify, watch};

/// How many [`Stops`] there are. While there is one, it is up to its holder what Ctrl-C means.
static LISTENERS: AtomicU32 = AtomicU32::new(0);

/// Told when signals no longer end the program by themselves.
static TAKEN_OVER: Notify = Notify::const_new();

/// One request to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stop {
    /// Who asks.
    pub(crate) by: Signal,
    /// How many there have been, this one included: the first asks to stop, the second to leave everything as it is.
    pub(crate) count: u32,
}

/// The requests to stop. While it lives, Ctrl-C does not end the program: whoever makes one must ask it.
pub(crate) struct Stops {
    source: Source,
    count: u32,
}

/// Who says so.
enum Source {
    Process(Signals),
    /// The program around.
    Around(watch::Receiver<u32>),
}

impl Stops {
    /// Begins to listen.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let source = match inside::stops() {
            Some(stops) => Source::Around(stops),
            None => Source::Process(take_over()?),
        };
        LISTENERS.fetch_add(1, Ordering::Relaxed);
        Ok(Self { source, count: 0 })
    }

    /// The next request. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Stop {
        let by = match &mut self.source {
            Source::Process(signals) => signals.next().await,
            Source::Around(stops) => match stops.changed().await {
                Ok(()) => Signal::Interrupt,
                Err(_) => std::future::pending().await,
            },
        };
        self.count = self.count.saturating_add(1);
        Stop { by, count: self.count }
    }

    /// Fails if somebody asked to stop meanwhile.
    pub(crate) fn heed(&mut self) -> Result<(), Failure> {
        self.next().now_or_never().map_or(Ok(()), |_| Err(interrupted()))
    }

    /// What comes of `work`, unless somebody asks to stop before it is done. It must be something that can be left undone.
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

impl Drop for Stops {
    fn drop(&mut self) {
        LISTENERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Takes the signals from the system, which would end the program where it stands. It never gets them back, so from now
/// on [`unheard`] ends it when nobody else listens.
pub(super) fn take_over() -> Result<Signals, Failure> {
    let signals = Signals::listen().map_err(|error| Failure::new(format!("listen for Ctrl-C: {error}")))?;
    TAKEN_OVER.notify_one();
    Ok(signals)
}

/// Ends with the first signal that nobody listens to. Signals that the system still handles are none of its business.
pub(crate) async fn unheard() {
    TAKEN_OVER.notified().await;
    let Ok(mut signals) = Signals::listen() else { return };
    loop {
        signals.next().await;
        if LISTENERS.load(Ordering::Relaxed) == 0 {
            return;
        }
    }
}
