//! The composition root: tasks, channels, shutdown. The only file that spawns.

use crate::clock::Clock;
use crate::config::{CALL_DEADLINE, CALLS_MAX, Config, INPUTS_MAX};
use crate::effects::Effects;
use crate::scheduler::{Effect, Input, Scheduler};
use crate::watch::{Nodes, Pods, Watched, Workloads, follow};
use anyhow::Context as _;
use common::model::owner::OwnerKind;
use common::plugins::default_registry;
use std::collections::VecDeque;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Runs the daemon until `stop` is done. Calls under way are finished first: a binding that is cut off is one that
/// nobody knows the outcome of.
pub async fn run(
    config: &Config,
    client: kube::Client,
    clock: Clock,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let (sender, mut inputs) = mpsc::channel(INPUTS_MAX);
    let mut watches = JoinSet::new();
    start_watches(&mut watches, &client, &clock, &sender);
    let mut work = Work::new(Effects::new(client, instance(config)));
    let mut scheduler = Scheduler::new(config.scheduler_names.clone(), default_registry());
    tracing::info!(schedulers = ?config.scheduler_names, "started");
    tokio::pin!(stop);
    loop {
        let tick = scheduler.next_tick(clock.now());
        let input = tokio::select! {
            biased;
            () = &mut stop => break,
            answer = work.next() => answer?,
            Some(input) = inputs.recv() => input,
            () = until(tick, &clock) => Input::Tick,
        };
        work.add(scheduler.handle(input, clock.now()));
    }
    watches.shutdown().await;
    // A look at a pod whose binding is unknown would go on for ever; the next start sees the pod as it is.
    let _ = tokio::time::timeout(CALL_DEADLINE, work.finish()).await;
    tracing::info!("stopped");
    Ok(())
}

/// Done when the process is asked to end.
pub async fn stop_signal() {
    let interrupted = tokio::signal::ctrl_c();
    match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(mut terminated) => {
            tokio::select! { biased; _ = terminated.recv() => {}, _ = interrupted => {} }
        }
        Err(_) => drop(interrupted.await),
    }
}

fn start_watches(
    watches: &mut JoinSet<()>,
    client: &kube::Client,
    clock: &Clock,
    inputs: &mpsc::Sender<Input>,
) {
    let mut start = Starter { watches, client, clock, inputs };
    start.follow(Nodes);
    start.follow(Pods);
    for kind in OwnerKind::ALL {
        start.follow(Workloads(kind));
    }
}

/// What every watch is started with.
struct Starter<'a> {
    watches: &'a mut JoinSet<()>,
    client: &'a kube::Client,
    clock: &'a Clock,
    inputs: &'a mpsc::Sender<Input>,
}

impl Starter<'_> {
    fn follow<W>(&mut self, watched: W)
    where
        W: Watched + Send + Sync + 'static,
        W::Object: Send,
    {
        self.watches.spawn(follow(watched, self.client.clone(), self.clock.clone(), self.inputs.clone()));
    }
}

/// The effects under way, and those that wait for one of them to end: no more than there are pods to decide on, since a
/// pod is not decided on again before its effects are done.
struct Work {
    effects: Effects,
    running: JoinSet<Option<Input>>,
    waiting: VecDeque<Effect>,
}

impl Work {
    fn new(effects: Effects) -> Self {
        Self { effects, running: JoinSet::new(), waiting: VecDeque::new() }
    }

    fn add(&mut self, effects: Vec<Effect>) {
        self.waiting.extend(effects);
        self.start();
    }

    /// The next answer that the scheduler is to know; pending for ever when nothing is under way. An effect that
    /// panics leaves a pod of which nobody knows whether it was bound: only a new start can tell.
    async fn next(&mut self) -> anyhow::Result<Input> {
        loop {
            let Some(ended) = self.running.join_next().await else { std::future::pending().await };
            let answer = ended.context("carry out an effect")?;
            self.start();
            if let Some(answer) = answer {
                return Ok(answer);
            }
        }
    }

    fn start(&mut self) {
        while self.running.len() < CALLS_MAX
            && let Some(effect) = self.waiting.pop_front()
        {
            let effects = self.effects.clone();
            self.running.spawn(async move { effects.run(effect).await });
        }
    }

    async fn finish(&mut self) {
        while self.running.join_next().await.is_some() {
            self.start();
        }
    }
}

async fn until(tick: Option<std::time::Duration>, clock: &Clock) {
    match tick {
        Some(at) => tokio::time::sleep(at.saturating_sub(clock.now().elapsed)).await,
        None => std::future::pending().await,
    }
}

/// Which process this is, as events name it.
fn instance(config: &Config) -> String {
    let name = config.scheduler_names.first().map_or("", |name| name);
    format!("{name}-{}", std::process::id())
}
