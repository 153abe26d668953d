//! Starts the tasks that hold the leader's Lease and this replica's own Lease, and connects them to the loop.

use crate::clock::Clock;
use crate::config::Config;
use crate::lease::replica::{LeaseValidity, Publisher};
use crate::lease::{Election, Leadership, LeadershipLost};
use crate::state::{Input, Now, ReplicaStatus, State};
use anyhow::Context as _;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

/// The two Lease tasks of this replica, as the loop sees them.
pub(super) struct Leases {
    leadership: Leadership,
    validity: LeaseValidity,
    is_leading: watch::Receiver<bool>,
    status: watch::Sender<ReplicaStatus>,
    election: JoinSet<Result<(), LeadershipLost>>,
    publisher: JoinSet<()>,
    /// Dropping a sender tells its task to end: election, publisher.
    stops: (oneshot::Sender<()>, oneshot::Sender<()>),
}

impl Leases {
    /// Starts the election, if the configuration has one, and the publisher of this replica's Lease.
    pub(super) fn start(config: &Config, client: &kube::Client, clock: &Clock, rng: fastrand::Rng) -> Self {
        let settings = &config.scheduler.leader_election;
        let leadership = if settings.leader_elect { Leadership::none() } else { Leadership::for_ever() };
        let (sender, is_leading) = watch::channel(!settings.leader_elect);
        let (stop_election, stopped_election) = oneshot::channel();
        let mut election = JoinSet::new();
        if settings.leader_elect {
            let listeners = (leadership.clone(), sender);
            let candidate =
                Election::new(settings, &config.replica, client.clone(), clock.clone(), rng, listeners);
            election.spawn(candidate.run(stopped_election));
        }
        let (status, receiver) = watch::channel(ReplicaStatus::default());
        let (stop_publisher, stopped_publisher) = oneshot::channel();
        let mut publisher = JoinSet::new();
        let place = (config.namespace.as_str(), config.replica.as_str());
        let validity = LeaseValidity::default();
        publisher.spawn(
            Publisher::new(client.clone(), clock.clone(), place, receiver, validity.clone())
                .restricted(config.is_restricted)
                .run(stopped_publisher),
        );
        let stops = (stop_election, stop_publisher);
        Self { leadership, validity, is_leading, status, election, publisher, stops }
    }

    /// Whether this replica's own Lease is valid.
    pub(super) fn validity(&self) -> LeaseValidity {
        self.validity.clone()
    }

    /// Whether and until when this replica leads.
    pub(super) fn leadership(&self) -> Leadership {
        self.leadership.clone()
    }

    /// The input that tells the state whether this replica leads now.
    pub(super) fn leading_input(&self) -> Input {
        Input::Leading(*self.is_leading.borrow())
    }

    /// An error when the leadership was lost or this replica's Lease lapsed, even if the input that says so still waits.
    pub(super) fn check(&self, now: Now) -> anyhow::Result<()> {
        anyhow::ensure!(!self.leadership.is_lost(now), "the leader's Lease could not be renewed in time");
        anyhow::ensure!(!self.validity.has_lapsed(now), "the replica's Lease could not be renewed in time");
        Ok(())
    }

    /// The next change of leadership. Losing it is an error that ends the daemon: all decisions may be out of date.
    pub(super) async fn next(&mut self) -> anyhow::Result<Input> {
        tokio::select! {
            biased;
            Some(ended) = self.election.join_next() => {
                ended.context("take part in the election")??;
                anyhow::bail!("the election ended by itself")
            }
            Ok(()) = self.is_leading.changed() => Ok(Input::Leading(*self.is_leading.borrow_and_update())),
            else => std::future::pending().await,
        }
    }

    /// Publishes what this replica has seen: at once if a writer of reservations may wait for it, else with the next renewal.
    pub(super) fn publish(&self, state: &mut State) {
        let has_news = state.take_news();
        self.status.send_if_modified(|status| {
            *status = state.replica_status();
            has_news
        });
    }

    /// Releases the leader's Lease, so that another replica can lead at once, and then deletes this replica's Lease. The
    /// caller no longer acts as the leader.
    pub(super) async fn end(mut self) {
        let (stop_election, stop_publisher) = self.stops;
        drop(stop_election);
        while self.election.join_next().await.is_some() {}
        drop(stop_publisher);
        while self.publisher.join_next().await.is_some() {}
    }
}
