//! The task that serves health and metrics, and the loop's side of it.

use super::comparisons;
use crate::admin::{Admin, Health, Probes};
use crate::clock::Clock;
use crate::config::Config;
use crate::lease::Leadership;
use crate::metrics::Metrics;
use crate::state::{Now, State};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Interval, MissedTickBehavior};

/// How old gauges may be. Counting a big cluster takes a fraction of a millisecond.
const FIGURES: Duration = Duration::from_secs(5);

/// Where it is shown how the daemon is.
pub(super) struct AdminServer {
    health: Arc<Health>,
    metrics: Metrics,
    leadership: Leadership,
    /// The name of the leader's Lease, if there is an election.
    lease: Option<String>,
    figures: Interval,
    /// Ends with this value.
    _servers: JoinSet<()>,
}

impl AdminServer {
    /// Starts to serve, if that was asked for.
    pub(super) async fn open(
        config: &Config,
        clock: &Clock,
        metrics: Metrics,
        leadership: Leadership,
    ) -> anyhow::Result<Self> {
        let election = &config.scheduler.leader_election;
        let health = Arc::new(Health::new(election.leader_elect, leadership.clone()));
        let mut servers = JoinSet::new();
        // In a task of its own: whatever the other server is kept busy with, probes are answered.
        if let Some(probes) = Probes::start(config, clock, Arc::clone(&health))? {
            servers.spawn(probes.run());
        }
        if let Some(admin) = Admin::start(config, clock, Arc::clone(&health), metrics.clone()).await? {
            servers.spawn(admin.run());
        }
        let mut figures = tokio::time::interval(FIGURES);
        figures.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let lease = election.leader_elect.then(|| election.resource_name.clone());
        Ok(Self { health, metrics, leadership, lease, figures, _servers: servers })
    }

    /// Done when it is time to [`AdminServer::show`] how things stand.
    pub(super) async fn look(&mut self) {
        self.figures.tick().await;
    }

    /// Shows how things stand.
    pub(super) fn show(&self, state: &mut State, now: Now) {
        self.metrics.figures(&state.figures(now));
        self.metrics.leading(self.lease.as_deref(), self.leadership.is_held(now));
    }

    /// An input was handled.
    pub(super) fn handled(&self, state: &mut State, took: Duration) {
        let notes = state.take_notes();
        comparisons::tell(&notes);
        self.metrics.handled(took, &notes);
        self.health.synced(state.is_complete());
    }

    /// The daemon was asked to end.
    pub(super) fn stopping(&self) {
        self.health.stopping();
    }
}
