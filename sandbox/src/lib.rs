//! An in-memory Kubernetes API with small controllers and kubelets: for `kubectl reserve demo`, for fast tests, and for
//! seeded fault simulation of the real daemon and command. Entry point: [`Sandbox`].
//!
//! Time and randomness are arguments: the same [`Config`] and the same requests give the same history. The sandbox has no
//! thread and no timer; controllers and kubelets work only when [`Sandbox::reconcile`] is called.
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

/// The controllers run at least this often, because PodDisruptionBudgets forget evictions after some time.
const REST_MAX: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub struct Config {
    /// Returns the current time.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// The seed for UIDs and generated names.
    pub seed: u64,
    /// How long kubelets take to start and stop pods.
    pub pace: Pace,
}

impl Config {
    /// Settings with a clock that starts at `start` and follows tokio's clock, which tests can pause. Needs a tokio runtime.
    pub fn starting_at(start: Timestamp, seed: u64) -> Self {
        let begun = Instant::now();
        let clock = move || start.saturating_add(begun.elapsed()).unwrap_or(start);
        Self { clock: Arc::new(clock), seed, pace: Pace::default() }
    }
}

/// A cluster in memory. Clones share it.
#[derive(Clone)]
pub struct Sandbox {
    shared: Shared,
    pace: Pace,
}

impl Sandbox {
    /// A cluster without nodes and pods.
    pub fn new(config: &Config) -> Self {
        let state = State::new((config.clock)(), config.seed);
        Self { shared: Shared::new(state, Arc::clone(&config.clock)), pace: config.pace }
    }

    /// The API, as a service for clients in this process.
    pub fn api(&self) -> Api {
        Api(self.shared.clone())
    }

    /// Runs controllers and kubelets until nothing more is to be done at `now`. Returns when they have to run again.
    pub fn reconcile(&self, now: Timestamp) -> Option<Timestamp> {
        self.shared.with(|state| {
            state.now = now;
            controllers::reconcile(state, self.pace)
        })
    }

    /// Runs controllers and kubelets after each change and whenever something is due. Never ends by itself.
    pub async fn run(&self) {
        let mut changes = self.shared.with(|state| state.store.listen_to_all());
        loop {
            let now = self.shared.now();
            let due = self.shared.with(|state| {
                let due = controllers::reconcile(state, self.pace);
                // Their own changes are no reason to run them again.
                changes.mark_unchanged();
                due
            });
            let rest = due.map(|due| Duration::try_from(due.duration_since(now)).unwrap_or_default());
            tokio::select! {
                biased;
                _ = changes.changed() => {}
                () = tokio::time::sleep(rest.unwrap_or(REST_MAX)) => {}
            }
        }
    }

    /// Serves the API over HTTP until the future is dropped.
    pub async fn serve(&self, listener: TcpListener) -> std::io::Result<()> {
        axum::serve(listener, axum::Router::new().fallback_service(self.api())).await
    }

    /// All changes after a revision that are still in the history.
    pub fn changes(&self, after: u64) -> Vec<Change> {
        self.shared.with(|state| state.store.changes_after(after))
    }

    /// Deletes the history of changes, so that a watch from an older version gets 410.
    pub fn forget_history(&self) {
        self.shared.with(|state| state.store.forget());
    }
}
