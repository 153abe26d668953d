//! Starts the servers for health and metrics, and gives them the loop's data.

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

/// How old gauges may be. Computing them for a big cluster takes a fraction of a millisecond.
const FIGURES_INTERVAL: Duration = Duration::from_secs(5);

/// The servers for health and metrics, as the loop sees them.
pub(super) struct AdminServer {
    health: Arc<Health>,
    metrics: Metrics,
    leadership: Leadership,
    /// The name of the leader's Lease, if there is an election.
    lease: Option<String>,
    figures: Interval,
    /// Dropping this value ends the server tasks.
    _servers: JoinSet<()>,
}

impl AdminServer {
    /// Starts the servers that the configuration asks for.
    pub(super) async fn open(
        config: &Config,
        clock: &Clock,
        metrics: Metrics,
        leadership: Leadership,
    ) -> anyhow::Result<Self> {
        let election = &config.scheduler.leader_election;
        let health = Arc::new(Health::new(election.leader_elect, leadership.clone()));
        let mut servers = JoinSet::new();
        // A task of its own: probes are answered even while the other server is busy.
        if let Some(probes) = Probes::start(config, clock, Arc::clone(&health))? {
            servers.spawn(probes.run());
        }
        if let Some(admin) = Admin::start(config, clock, Arc::clone(&health), metrics.clone()).await? {
            servers.spawn(admin.run());
        }
        let mut figures = tokio::time::interval(FIGURES_INTERVAL);
        figures.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let lease = election.leader_elect.then(|| election.resource_name.clone());
        Ok(Self { health, metrics, leadership, lease, figures, _servers: servers })
    }

    /// Done when [`AdminServer::update_figures`] is due.
    pub(super) async fn wait_for_next_figures(&mut self) {
        self.figures.tick().await;
    }

    pub(super) fn update_figures(&self, state: &mut State, now: Now) {
        self.metrics.figures(&state.figures(now));
        self.metrics.leading(self.lease.as_deref(), self.leadership.is_held(now));
    }

    /// Publishes the notes of an input that took `took` to handle.
    pub(super) fn handled(&self, state: &mut State, took: Duration) {
        let notes = state.take_notes();
        comparisons::log_results(&notes);
        self.metrics.handled(took, &notes);
        self.health.synced(state.is_complete());
    }

    /// Tells readiness probes that the daemon is stopping.
    pub(super) fn stopping(&self) {
        self.health.stopping();
    }
}
