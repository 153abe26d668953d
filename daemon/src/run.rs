//! Starts and connects all parts of the daemon: tasks, channels, shutdown. Entry point: [`run`].
//!
//! Only this module and its children spawn tasks, so that every task is visible in one place.

mod admin_server;
mod comparisons;
mod extender_server;
mod leases;
mod work;

use crate::clock::Clock;
use crate::config::{CALL_DEADLINE, Config, INPUTS_MAX};
use crate::connect::Clients;
use crate::effects::Effects;
use crate::lease::replica::LeaseValidity;
use crate::metrics::Metrics;
use crate::queue::Backoff;
use crate::state::{Input, State};
use crate::watch::{WatchedKind, catalog_objects, follow, nodes, pods, replicas, watched_kinds, workloads};
use admin_server::AdminServer;
use anyhow::Context as _;
use common::model::{CatalogKind, OwnerKind};
use comparisons::Comparisons;
use extender_server::ExtenderServer;
use leases::Leases;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use work::Work;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Inputs that the state learns before it decides again.
const BATCH_MAX: usize = 256;

/// Runs the daemon until `stop` is done. Calls in progress are finished first: the outcome of an interrupted binding would be
/// unknown.
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
    let spawner = WatchSpawner {
        watches: &mut watches,
        client: &clients.work,
        clock: &clock,
        inputs: &sender,
        validity: leases.validity(),
    };
    start_watches(spawner, config);
    let mut admin_server = AdminServer::open(config, &clock, metrics, leases.leadership()).await?;
    let effects = Effects::new(clients.work.clone(), instance(config)).reservations(clients.reservations);
    let effects = effects.extenders(&config.scheduler.extenders)?;
    let extender_server = ExtenderServer::open(config, &clock, &sender, leases.validity()).await?;
    let mut work =
        Work::new((effects, clients.work), clock.clone(), leases.leadership(), extender_server.replies());
    work.add(state.handle(leases.leading_input(), clock.now()));
    log_configuration(config);
    tokio::pin!(stop);
    loop {
        leases.check(clock.now())?;
        let tick = state.next_tick(clock.now());
        let input = tokio::select! {
            biased;
            () = &mut stop => break,
            input = leases.next() => input?,
            () = admin_server.wait_for_next_figures() => {
                admin_server.update_figures(&mut state, clock.now());
                continue;
            }
            input = comparisons.next() => input,
            answer = work.next() => answer?,
            // A watch never ends by itself. Without one of them the daemon would decide by a belief that no longer changes.
            Some(ended) = watches.join_next() => return ended.context("watch the cluster"),
            Some(input) = inputs.recv() => input,
            () = sleep_until_tick(tick, &clock) => Input::Tick,
        };
        let begun = clock.now();
        learn_batch(input, &mut inputs, &mut state, &mut work, &clock)?;
        work.add(state.act(clock.now()));
        state.dropped(work.outbox.take_dropped());
        admin_server.handled(&mut state, clock.now().elapsed.saturating_sub(begun.elapsed));
        leases.publish(&mut state);
    }
    admin_server.stopping();
    extender_server.close().await;
    watches.shutdown().await;
    work.add(state.handle(Input::Stop, clock.now()));
    // Waiting for a pod whose binding is unknown could take for ever; after the next start the watch shows the pod as it is.
    let _ = tokio::time::timeout(CALL_DEADLINE, finish(&mut work, &mut state, &clock)).await;
    leases.end().await;
    tracing::info!("stopped");
    Ok(())
}

fn log_configuration(config: &Config) {
    config.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    config.remarks.iter().for_each(|remark| tracing::debug!("{remark}"));
    let configuration = config.scheduler.to_yaml();
    tracing::info!("reserve-daemon {VERSION} started with this configuration:\n{configuration}");
}

/// Lets the state learn `first` and all other inputs that have arrived: newer knowledge makes better decisions, and inputs
/// must not pile up while unschedulable pods are tried again and again.
fn learn_batch(
    first: Input,
    inputs: &mut mpsc::Receiver<Input>,
    state: &mut State,
    work: &mut Work,
    clock: &Clock,
) -> anyhow::Result<()> {
    work.add(state.learn(first, clock.now()));
    for _ in 1..BATCH_MAX {
        let answer = work.try_next()?;
        let Some(input) = answer.or_else(|| inputs.try_recv().ok()) else { break };
        work.add(state.learn(input, clock.now()));
    }
    Ok(())
}

/// Carries out the remaining effects after the daemon has stopped deciding, including the events about the last bindings.
async fn finish(work: &mut Work, state: &mut State, clock: &Clock) -> anyhow::Result<()> {
    while work.is_busy() {
        let answer = work.next().await?;
        work.add(state.handle(answer, clock.now()));
    }
    Ok(())
}

/// Done when the process receives SIGINT or SIGTERM.
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

/// Done when the user presses Ctrl-C; this platform has no SIGTERM.
#[cfg(not(unix))]
pub async fn stop_signal() {
    drop(tokio::signal::ctrl_c().await);
}

fn state(config: &Config, metrics: &Metrics, clock: &Clock) -> anyhow::Result<State> {
    let configuration = &config.scheduler;
    let mut profiles = BTreeMap::new();
    for profile in &configuration.profiles {
        let mut registry = config.plugins.registry(profile).map_err(anyhow::Error::msg)?;
        registry.meter = Some(metrics.meter(&profile.scheduler_name, clock));
        profiles.insert(profile.scheduler_name.as_str().into(), registry);
    }
    let seconds = |seconds: i64| Duration::from_secs(seconds.unsigned_abs());
    let backoff = Backoff {
        initial: seconds(configuration.pod_initial_backoff_seconds),
        max: seconds(configuration.pod_max_backoff_seconds),
        unschedulable_max: config.unschedulable_max,
    };
    let mut state = State::new(profiles, backoff);
    let watched = watched_kinds(&config.plugins, &configuration.profiles);
    state.set_unwatched(CatalogKind::ALL.into_iter().filter(|kind| !watched.contains(kind)));
    state.set_automatic_max(usize::try_from(config.automatic_per_namespace).unwrap_or(usize::MAX));
    Ok(state)
}

fn start_watches(mut spawner: WatchSpawner<'_>, config: &Config) {
    spawner.follow_when_lease_is_settled(nodes());
    spawner.follow_when_lease_is_settled(pods());
    for kind in OwnerKind::ALL {
        spawner.follow(workloads(kind));
    }
    for kind in watched_kinds(&config.plugins, &config.scheduler.profiles) {
        spawner.follow(catalog_objects(kind));
    }
    spawner.follow(replicas(&config.namespace));
}

struct WatchSpawner<'a> {
    watches: &'a mut JoinSet<()>,
    client: &'a kube::Client,
    clock: &'a Clock,
    inputs: &'a mpsc::Sender<Input>,
    validity: LeaseValidity,
}

impl WatchSpawner<'_> {
    fn follow<T: Send + 'static>(&mut self, kind: WatchedKind<T>) {
        self.watches.spawn(follow(kind, self.client.clone(), self.clock.clone(), self.inputs.clone()));
    }

    /// Follows nodes or pods, but lists them only after the replica's own Lease is settled. Before that, no writer of a
    /// reservation waits for this replica, so an earlier list might lack a reservation that was written meanwhile.
    fn follow_when_lease_is_settled<T: Send + 'static>(&mut self, kind: WatchedKind<T>) {
        let validity = self.validity.clone();
        let following = follow(kind, self.client.clone(), self.clock.clone(), self.inputs.clone());
        self.watches.spawn(async move {
            validity.wait_until_settled().await;
            following.await;
        });
    }
}

async fn sleep_until_tick(tick: Option<Duration>, clock: &Clock) {
    match tick {
        Some(at) => tokio::time::sleep(at.saturating_sub(clock.now().elapsed)).await,
        None => std::future::pending().await,
    }
}

fn instance(config: &Config) -> String {
    let name = config.scheduler.profiles.first().map_or("", |profile| &profile.scheduler_name);
    format!("{name}-{}", config.replica)
}
