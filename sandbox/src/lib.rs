//! An in-memory Kubernetes API, with small controllers and kubelets: for `kubectl reserve demo`, for tests that take
//! milliseconds, and for seeded fault simulation of the real daemon and command.
//!
//! Time, ids and chance are arguments: the same [`Config`] and the same requests give the same history. There is no thread
//! and no timer of its own; controllers and kubelets work when somebody calls [`Sandbox::pump`].
#![forbid(unsafe_code)]

mod api;
mod controllers;
mod patch;
mod refusal;
mod resources;
mod select;
mod server;
mod store;
mod value;

pub use crate::controllers::Pace;
pub use crate::server::{AnswerBody, Api};
pub use crate::store::Change;

use crate::api::State;
use crate::server::Shared;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::Instant;

/// How long the controllers rest at most; budgets forget evictions by time.
const LONG: Duration = Duration::from_secs(60);

/// What a sandbox is made of.
#[derive(Clone)]
pub struct Config {
    /// Tells the time.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// From which ids and names are made.
    pub seed: u64,
    /// How long things take on nodes.
    pub pace: Pace,
}

impl Config {
    /// A clock that starts at `start` and goes on by tokio's, which tests can pause. Call it within a runtime.
    pub fn starting_at(start: Timestamp, seed: u64) -> Self {
        let begun = Instant::now();
        let clock = move || start.saturating_add(begun.elapsed()).unwrap_or(start);
        Self { clock: Arc::new(clock), seed, pace: Pace::default() }
    }
}

/// A cluster in a box. Clones are the same cluster.
#[derive(Clone)]
pub struct Sandbox {
    shared: Shared,
    pace: Pace,
}

impl Sandbox {
    /// An empty cluster.
    pub fn new(config: &Config) -> Self {
        let state = State::new((config.clock)(), config.seed);
        Self { shared: Shared::new(state, Arc::clone(&config.clock)), pace: config.pace }
    }

    /// The API, as a service for clients in this process.
    pub fn api(&self) -> Api {
        Api(self.shared.clone())
    }

    /// Lets controllers and kubelets do all that is to be done at `now`. Returns when something more will be due.
    pub fn pump(&self, now: Timestamp) -> Option<Timestamp> {
        self.shared.with(|state| {
            state.now = now;
            controllers::pump(state, self.pace)
        })
    }

    /// Lets controllers and kubelets work whenever something has changed or is due. Never ends by itself.
    pub async fn live(&self) {
        let mut heard = self.shared.with(|state| state.store.listen_to_all());
        loop {
            let now = self.shared.now();
            let due = self.shared.with(|state| {
                let due = controllers::pump(state, self.pace);
                // What they did themselves is no reason to look again.
                heard.mark_unchanged();
                due
            });
            let rest = due.map(|due| Duration::try_from(due.duration_since(now)).unwrap_or_default());
            tokio::select! {
                biased;
                _ = heard.changed() => {}
                () = tokio::time::sleep(rest.unwrap_or(LONG)) => {}
            }
        }
    }

    /// Serves the API over HTTP until the future is dropped.
    ///
    /// # Errors
    /// When the listener fails.
    pub async fn serve(&self, listener: TcpListener) -> std::io::Result<()> {
        axum::serve(listener, axum::Router::new().fallback_service(self.api())).await
    }

    /// Everything that happened after a revision and is not forgotten.
    pub fn changes(&self, after: u64) -> Vec<Change> {
        self.shared.with(|state| state.store.later(after))
    }

    /// Forgets all changes up to now, so that whoever watches from before is told 410.
    pub fn forget_history(&self) {
        self.shared.with(|state| state.store.forget());
    }
}
