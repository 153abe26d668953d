//! The tasks that keep the Leases of this replica, and the loop's side of them.

use crate::clock::Clock;
use crate::config::Config;
use crate::lease::replica::{Publisher, Standing};
use crate::lease::{Election, Leadership, Lost};
use crate::state::{Input, Now, Sight, State};
use anyhow::Context as _;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

/// The Leases of this replica.
pub(super) struct Leases {
    leadership: Leadership,
    standing: Standing,
    turned: watch::Receiver<bool>,
    sight: watch::Sender<Sight>,
    election: JoinSet<Result<(), Lost>>,
    publisher: JoinSet<()>,
    /// What tells the two tasks to end.
    stops: (oneshot::Sender<()>, oneshot::Sender<()>),
}

impl Leases {
    /// Takes part in the election, if there is to be one, and publishes what is seen.
    pub(super) fn start(config: &Config, client: &kube::Client, clock: &Clock, rng: fastrand::Rng) -> Self {
        let settings = &config.scheduler.leader_election;
        let leadership = if settings.leader_elect { Leadership::none() } else { Leadership::for_ever() };
        let (turn, turned) = watch::channel(!settings.leader_elect);
        let (stop_election, stopped_election) = oneshot::channel();
        let mut election = JoinSet::new();
        if settings.leader_elect {
            let listeners = (leadership.clone(), turn);
            let candidate =
                Election::new(settings, &config.replica, client.clone(), clock.clone(), rng, listeners);
            election.spawn(candidate.run(stopped_election));
        }
        let (sight, seen) = watch::channel(Sight::default());
        let (stop_publisher, stopped_publisher) = oneshot::channel();
        let mut publisher = JoinSet::new();
        let place = (config.namespace.as_str(), config.replica.as_str());
        let standing = Standing::default();
        publisher.spawn(
            Publisher::new(client.clone(), clock.clone(), place, seen, standing.clone())
                .restricted(config.is_restricted)
                .run(stopped_publisher),
        );
        let stops = (stop_election, stop_publisher);
        Self { leadership, standing, turned, sight, election, publisher, stops }
    }

    /// Whether others count on this replica.
    pub(super) fn standing(&self) -> Standing {
        self.standing.clone()
    }

    /// Until when this replica may act.
    pub(super) fn leadership(&self) -> Leadership {
        self.leadership.clone()
    }

    /// Whether this replica leads, as the state is to know it.
    pub(super) fn turn(&self) -> Input {
        Input::Leading(*self.turned.borrow())
    }

    /// Fails once the leadership is over, or nobody counts on this replica any more, whatever still waits to be told.
    pub(super) fn check(&self, now: Now) -> anyhow::Result<()> {
        anyhow::ensure!(!self.leadership.is_lost(now), "the leader's Lease could not be renewed in time");
        anyhow::ensure!(!self.standing.has_lapsed(now), "the replica's Lease could not be renewed in time");
        Ok(())
    }

    /// What happens next. A leadership that was lost is the end: everything that was decided may be out of date.
    pub(super) async fn next(&mut self) -> anyhow::Result<Input> {
        tokio::select! {
            biased;
            Some(ended) = self.election.join_next() => {
                ended.context("take part in the election")??;
                anyhow::bail!("the election ended by itself")
            }
            Ok(()) = self.turned.changed() => Ok(Input::Leading(*self.turned.borrow_and_update())),
            else => std::future::pending().await,
        }
    }

    /// Lets others know what was seen: at once if somebody may wait for it, else when the Lease is renewed.
    pub(super) fn publish(&self, state: &mut State) {
        let has_news = state.take_news();
        self.sight.send_if_modified(|sight| {
            *sight = state.sight();
            has_news
        });
    }

    /// Lets go of the leader's Lease, so that another one can go on at once, and takes the replica's away. By now nothing is
    /// done as the leader any more.
    pub(super) async fn end(mut self) {
        let (stop_election, stop_publisher) = self.stops;
        drop(stop_election);
        while self.election.join_next().await.is_some() {}
        drop(stop_publisher);
        while self.publisher.join_next().await.is_some() {}
    }
}
