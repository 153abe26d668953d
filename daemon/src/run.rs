//! The composition root: tasks, channels, shutdown. Nobody else spawns.

mod admin_server;
mod comparisons;
mod extender_server;
mod leases;

use crate::clock::Clock;
use crate::config::{CALL_DEADLINE, CALLS_MAX, Config, INPUTS_MAX};
use crate::connect::Clients;
use crate::effects::Effects;
use crate::extender::replies::Replies;
use crate::lease::Leadership;
use crate::lease::replica::Standing;
use crate::metrics::Metrics;
use crate::outbox::Outbox;
use crate::queue::Backoff;
use crate::state::{Effect, Input, State, Subject};
use crate::watch::{Nodes, Others, Pods, Replicas, Watched, Workloads, follow, list_nodes_and_pods};
use admin_server::AdminServer;
use anyhow::Context as _;
use common::cluster::compare::Listing;
use common::model::OtherKind;
use common::model::owner::OwnerKind;
use common::plugins::registry_with;
use comparisons::Comparisons;
use extender_server::ExtenderServer;
use leases::Leases;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Inputs that are taken in before the next decisions.
const BATCH_MAX: usize = 256;

/// Runs the daemon until `stop` is done. Calls under way are finished first: a binding that is cut off is one that
/// nobody knows the outcome of.
pub async fn run(
    config: &Config,
    clients: Clients,
    metrics: Metrics,
    clock: Clock,
    rng: fastrand::Rng,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let (sender, mut inputs) = mpsc::channel(INPUTS_MAX);
    let mut watches = JoinSet::new();
    let mut state = state(config, &metrics, &clock)?;
    state.set_extenders(&config.scheduler.extenders);
    let mut comparisons = Comparisons::new(config.compare_every, rng.clone());
    let mut leases = Leases::start(config, &clients.leases, &clock, rng);
    let start = Starter {
        watches: &mut watches,
        client: &clients.work,
        clock: &clock,
        inputs: &sender,
        standing: leases.standing(),
    };
    start_watches(start, config);
    let mut admin_server = AdminServer::open(config, &clock, metrics, leases.leadership()).await?;
    let effects = Effects::new(clients.work.clone(), instance(config)).reservations(clients.reservations);
    let effects = effects.extenders(&config.scheduler.extenders)?;
    let extender_server = ExtenderServer::open(config, &clock, &sender, leases.standing()).await?;
    let mut work =
        Work::new((effects, clients.work), clock.clone(), leases.leadership(), extender_server.replies());
    work.add(state.handle(leases.turn(), clock.now()));
    log_configuration(config);
    tokio::pin!(stop);
    loop {
        leases.check(clock.now())?;
        let tick = state.next_tick(clock.now());
        let input = tokio::select! {
            biased;
            () = &mut stop => break,
            turn = leases.next() => turn?,
            () = admin_server.look() => {
                admin_server.show(&mut state, clock.now());
                continue;
            }
            input = comparisons.next() => input,
            answer = work.next() => answer?,
            // A watch never ends by itself; without one of them we would decide on a picture that no longer changes.
            Some(ended) = watches.join_next() => return ended.context("watch the cluster"),
            Some(input) = inputs.recv() => input,
            () = until(tick, &clock) => Input::Tick,
        };
        let begun = clock.now();
        take_in(input, &mut inputs, &mut state, &mut work, &clock)?;
        work.add(state.act(clock.now()));
        state.dropped(work.outbox.take_dropped());
        admin_server.handled(&mut state, clock.now().elapsed.saturating_sub(begun.elapsed));
        leases.publish(&mut state);
    }
    admin_server.stopping();
    extender_server.close().await;
    watches.shutdown().await;
    work.add(state.handle(Input::Stop, clock.now()));
    // A look at a pod whose binding is unknown would go on for ever; the next start sees the pod as it is.
    let _ = tokio::time::timeout(CALL_DEADLINE, finish(&mut work, &mut state, &clock)).await;
    leases.end().await;
    tracing::info!("stopped");
    Ok(())
}

/// Logs what the daemon was started with.
fn log_configuration(config: &Config) {
    config.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    config.remarks.iter().for_each(|remark| tracing::debug!("{remark}"));
    let configuration = config.scheduler.to_yaml();
    tracing::info!("reserve-daemon {VERSION} started with this configuration:\n{configuration}");
}

/// Takes in what happened, and whatever else has come meanwhile: a decision that knows of it is a better one, and while
/// hopeless pods are looked at again and again the news must not pile up.
fn take_in(
    first: Input,
    inputs: &mut mpsc::Receiver<Input>,
    state: &mut State,
    work: &mut Work,
    clock: &Clock,
) -> anyhow::Result<()> {
    work.add(state.learn(first, clock.now()));
    for _ in 1..BATCH_MAX {
        let answer = work.next_at_once()?;
        let Some(input) = answer.or_else(|| inputs.try_recv().ok()) else { break };
        work.add(state.learn(input, clock.now()));
    }
    Ok(())
}

/// Carries out what is left after the daemon has stopped deciding, the events about the last bindings included.
async fn finish(work: &mut Work, state: &mut State, clock: &Clock) -> anyhow::Result<()> {
    while work.is_busy() {
        let answer = work.next().await?;
        work.add(state.handle(answer, clock.now()));
    }
    Ok(())
}

/// Done when the process is asked to end.
#[cfg(unix)]
pub async fn stop_signal() {
    let interrupted = tokio::signal::ctrl_c();
    match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(mut terminated) => {
            tokio::select! { biased; _ = terminated.recv() => {}, _ = interrupted => {} }
        }
        Err(_) => drop(interrupted.await),
    }
}

/// The same where there is only Ctrl-C.
#[cfg(not(unix))]
pub async fn stop_signal() {
    drop(tokio::signal::ctrl_c().await);
}

fn state(config: &Config, metrics: &Metrics, clock: &Clock) -> anyhow::Result<State> {
    let configuration = &config.scheduler;
    let mut profiles = BTreeMap::new();
    for profile in &configuration.profiles {
        let mut registry = registry_with(profile, &config.tools).map_err(anyhow::Error::msg)?;
        registry.meter = Some(metrics.meter(&profile.scheduler_name, clock));
        profiles.insert(profile.scheduler_name.as_str().into(), registry);
    }
    let seconds = |seconds: i64| Duration::from_secs(seconds.unsigned_abs());
    let backoff = Backoff {
        first: seconds(configuration.pod_initial_backoff_seconds),
        longest: seconds(configuration.pod_max_backoff_seconds),
        parked: config.parked_max,
    };
    let mut state = State::new(profiles, backoff);
    state.set_automatic_max(usize::try_from(config.automatic_per_namespace).unwrap_or(usize::MAX));
    Ok(state)
}

fn start_watches(mut start: Starter<'_>, config: &Config) {
    start.follow_when_settled(Nodes);
    start.follow_when_settled(Pods);
    for kind in OwnerKind::ALL {
        start.follow(Workloads(kind));
    }
    for kind in OtherKind::ALL {
        start.follow(Others(kind));
    }
    start.follow(Replicas { namespace: config.namespace.clone() });
}

/// What every watch is started with.
struct Starter<'a> {
    watches: &'a mut JoinSet<()>,
    client: &'a kube::Client,
    clock: &'a Clock,
    inputs: &'a mpsc::Sender<Input>,
    standing: Standing,
}

impl Starter<'_> {
    fn follow<W>(&mut self, watched: W)
    where
        W: Watched + Send + Sync + 'static,
        W::Object: Send,
    {
        self.watches.spawn(follow(watched, self.client.clone(), self.clock.clone(), self.inputs.clone()));
    }

    /// The same for what reservations are about: what is listed before anybody waits for this replica may lack one that was
    /// written meanwhile.
    fn follow_when_settled<W>(&mut self, watched: W)
    where
        W: Watched + Send + Sync + 'static,
        W::Object: Send,
    {
        let standing = self.standing.clone();
        let following = follow(watched, self.client.clone(), self.clock.clone(), self.inputs.clone());
        self.watches.spawn(async move {
            standing.settled().await;
            following.await;
        });
    }
}

/// The effects under way, and those that wait.
struct Work {
    effects: Effects,
    /// By which lists are read.
    client: kube::Client,
    lists: JoinSet<Result<Box<Listing>, String>>,
    outbox: Outbox,
    running: JoinSet<(Subject, Option<Input>)>,
    clock: Clock,
    leadership: Leadership,
    replies: Replies,
}

impl Work {
    fn new(
        (effects, client): (Effects, kube::Client),
        clock: Clock,
        leadership: Leadership,
        replies: Replies,
    ) -> Self {
        let (outbox, running, lists) = (Outbox::default(), JoinSet::new(), JoinSet::new());
        Self { effects, client, lists, outbox, running, clock, leadership, replies }
    }

    fn add(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                // It waits for no call.
                Effect::Reply { id, reply } => self.replies.answer(id, reply),
                Effect::List => self.list(),
                effect => self.outbox.push(effect),
            }
        }
        self.start();
    }

    /// The next answer that the state is to know; pending for ever when nothing is under way. An effect that
    /// panics leaves a pod of which nobody knows whether it was bound: only a new start can tell.
    async fn next(&mut self) -> anyhow::Result<Input> {
        loop {
            let ended = tokio::select! {
                biased;
                Some(ended) = self.running.join_next() => ended,
                Some(listed) = self.lists.join_next() => return Ok(Input::Listed(listed.context("list")?)),
                else => std::future::pending().await,
            };
            let (subject, answer) = ended.context("carry out an effect")?;
            self.outbox.done(&subject);
            self.start();
            match answer {
                Some(answer) => return Ok(answer),
                None if self.is_busy() => {}
                // Whoever waits for the end must get a turn to see it.
                None => return Ok(Input::Tick),
            }
        }
    }

    /// The next answer, if there is one already.
    fn next_at_once(&mut self) -> anyhow::Result<Option<Input>> {
        while let Some(ended) = self.running.try_join_next() {
            let (subject, answer) = ended.context("carry out an effect")?;
            self.outbox.done(&subject);
            self.start();
            if answer.is_some() {
                return Ok(answer);
            }
        }
        Ok(None)
    }

    fn start(&mut self) {
        // The process may have stood still since this was decided, and another one may lead by now.
        while self.running.len() < CALLS_MAX
            && !self.leadership.is_lost(self.clock.now())
            && let Some(effect) = self.outbox.pop()
        {
            let (effects, now) = (self.effects.clone(), self.clock.now().wall);
            self.running.spawn(async move { (effect.subject(), effects.run(effect, now).await) });
        }
    }

    /// Reads lists. A big one takes a while, and nobody who waits for the end waits for it.
    fn list(&mut self) {
        let (client, clock) = (self.client.clone(), self.clock.clone());
        self.lists.spawn(async move { list_nodes_and_pods(&client, &clock).await.map(Box::new) });
    }

    fn is_busy(&self) -> bool {
        !self.running.is_empty()
    }
}

async fn until(tick: Option<Duration>, clock: &Clock) {
    match tick {
        Some(at) => tokio::time::sleep(at.saturating_sub(clock.now().elapsed)).await,
        None => std::future::pending().await,
    }
}

/// Which replica this is, as events name it.
fn instance(config: &Config) -> String {
    let name = config.scheduler.profiles.first().map_or("", |profile| &profile.scheduler_name);
    format!("{name}-{}", config.replica)
}
