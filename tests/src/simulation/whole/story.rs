//! A life drawn from a seed: a cluster, some minutes in which people and the weather do what they like, and then calm, in
//! which everything has to come right.

use super::line::Process;
use super::people;
use super::scenario::{By, Workload, node};
use super::weather::EVERYTHING;
use super::world::{DAEMONS, World, user};
use fastrand::Rng;
use kubectl_reserve::Around;
use serde_json::json;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// How long a cluster has to come to rest before it begins.
const REST: Duration = Duration::from_secs(20);
/// How long it is calm at the end: longer than a daemon needs to lead, a reservation to end and be swept, and a pod that
/// was told to wait to be looked at again.
const CALM: Duration = Duration::from_secs(5 * 60 + 30);
/// How many commands are under way at a time.
const COMMANDS_MAX: usize = 3;
/// How long nothing may have reached a daemon by the worst of the weather, commands and daemons dying included.
const UNSEEN_MAX: Duration = Duration::from_secs(45);
/// The same where they hear of everything at once.
const UNSEEN_MIN: Duration = Duration::from_secs(3);

/// Whether daemons hear of everything at once in this one.
fn is_sharp(seed: u64) -> bool {
    seed.is_multiple_of(2)
}

/// How long nothing may have reached a daemon.
pub(super) fn unseen(seed: u64) -> Duration {
    if is_sharp(seed) { UNSEEN_MIN } else { UNSEEN_MAX }
}

/// Lives through it.
#[expect(clippy::disallowed_methods, reason = "the weather and others go on meanwhile, on the same thread")]
pub(super) async fn live(world: &World, seed: u64) {
    let mut rng = Rng::with_seed(seed ^ 0x5702);
    let scenario = settle(world, &mut rng).await;
    let has_weather = rng.u8(0..8) > 0;
    let until = Instant::now() + Duration::from_secs(rng.u64(120..360));
    *world.calm.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    if is_sharp(seed) {
        world.weather.sharpen();
    }
    let weather = tokio::spawn(storms(world.clone(), rng.fork(), (has_weather, is_sharp(seed))));
    let others = tokio::spawn(people::schedule(world.clone()));
    let mut commands = JoinSet::new();
    while Instant::now() < until {
        sleep(Duration::from_millis(rng.u64(200..12_000))).await;
        while let Some(ended) = commands.try_join_next() {
            no_panic(world, &ended);
        }
        if rng.u8(0..3) > 0 {
            people::act(world, &mut rng, &scenario);
        } else if commands.len() < COMMANDS_MAX
            && let Some(words) = words(world, &mut rng, &scenario)
        {
            commands.spawn_local(give(world.clone(), words, rng.fork()));
        }
    }
    weather.abort();
    world.weather.clear_up();
    people::tidy_up(world);
    world.record.note(format_args!("calm"));
    let all = async {
        while let Some(ended) = commands.join_next().await {
            no_panic(world, &ended);
        }
    };
    if tokio::time::timeout(CALM, all).await.is_err() {
        world.record.broke("I19: a command does not end".to_owned());
    }
    people::tidy_up(world);
    sleep(CALM).await;
    world.compared();
    others.abort();
}

/// A command that panics is a failure whoever gave it.
fn no_panic(world: &World, ended: &Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        world.record.broke(format!("I14: a command ended: {error}"));
    }
}

/// Makes a cluster that is mostly full, with somebody who waits.
async fn settle(world: &World, rng: &mut Rng) -> Vec<Workload> {
    world.make(&json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "tenant" } }));
    let nodes = rng.u64(2..5);
    let mut room = 0;
    for index in 1..=nodes {
        let cores = rng.u64(2..5);
        room += cores;
        world.make(&node(&format!("n{index}"), cores));
    }
    let mut scenario = Vec::new();
    while room > 0 {
        let replicas = rng.u64(1..4).min(room);
        room -= replicas;
        scenario.push(workload(rng, scenario.len(), usize::try_from(replicas).unwrap_or(1)));
    }
    scenario.iter().for_each(|one| drop(world.make(&one.object())));
    sleep(REST).await;
    let mut rival = Workload::new("rival", 2);
    rival.priority = if rng.u8(0..4) == 0 { 100 } else { 0 };
    world.make(&rival.object());
    scenario
}

fn workload(rng: &mut Rng, index: usize, replicas: usize) -> Workload {
    let mut one = Workload::new(&format!("w{index}"), replicas);
    one.kind = if rng.u8(0..3) == 0 { "StatefulSet" } else { "Deployment" };
    one.by = if rng.u8(0..6) == 0 { By::Others } else { By::Us };
    one.keep = [None, None, Some("40s"), Some("true")][rng.usize(..4)];
    one.priority = [0, 0, 0, 10][rng.usize(..4)];
    one.cpu = [1000, 1000, 500][rng.usize(..3)];
    one.grace = if rng.u8(0..8) == 0 { 315_360_000 } else { 5 };
    one.ports = if rng.u8(0..8) == 0 { rng.u16(1..60) } else { 0 };
    one
}

/// What somebody types.
fn words(world: &World, rng: &mut Rng, scenario: &[Workload]) -> Option<Vec<String>> {
    let one = rng.choice(scenario)?;
    let pods = world.pods_of(&one.name);
    let pod = rng.choice(&pods).map(|(name, _)| name.clone())?;
    let kind = one.kind.to_lowercase();
    let how = ["--same-node=wait", "--same-node=prefer", "--same-node=require"][rng.usize(..3)];
    let line = match rng.u8(0..12) {
        0..=4 => format!("pod {pod} --ttl=40s --timeout=90s {how}"),
        5 => format!("restart {kind}/{} --ttl=40s --timeout=60s --all", one.name),
        6 => format!("drain n{} --ttl=40s --timeout=60s --force", rng.u8(1..4)),
        7 => format!("add --pod {pod} --ttl=40s"),
        8 => format!("add --node n{} --for {kind}/{} --cpu 1 --ttl=40s", rng.u8(1..4), one.name),
        9 | 10 => {
            let names = world.names_of_reservations();
            let ttl = ["20s", "60s", "5m"][rng.usize(..3)];
            format!("extend {} --ttl={ttl}", rng.choice(&names)?)
        }
        _ => format!("release --node n{} -A", rng.u8(1..4)),
    };
    Some(line.split(' ').map(str::to_owned).chain(["--yes".to_owned()]).collect())
}

/// Gives a command. Some are killed in the middle, some are stopped with Ctrl-C.
async fn give(world: World, words: Vec<String>, mut rng: Rng) {
    let (process, around) = (Process::default(), Around::default());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let stopped = async {
        sleep(Duration::from_millis(rng.u64(0..15_000))).await;
        match rng.u8(0..6) {
            0 => process.kill(),
            1 => around.interrupt(),
            _ => {}
        }
        std::future::pending().await
    };
    tokio::select! {
        biased;
        _ = world.command(&words, &process, &around) => {}
        () = stopped => {}
    }
}

/// The weather, for as long as it lasts.
async fn storms(world: World, mut rng: Rng, (has_weather, is_sharp): (bool, bool)) {
    if !has_weather {
        return;
    }
    let rates = [(0, 0), (10, 5), (40, 20), (120, 60)];
    loop {
        sleep(Duration::from_millis(rng.u64(1000..25_000))).await;
        let replica = DAEMONS[rng.usize(..2)];
        let whom = user(replica);
        let length = Duration::from_millis(rng.u64(500..25_000));
        let kind = ["nodes", "pods", "replicasets", "deployments", "leases"][rng.usize(..5)];
        world.record.note(format_args!("weather over {replica}, {kind}, {length:?}"));
        // What keeps news from a daemon comes first.
        match if is_sharp { rng.u8(5..10) } else { rng.u8(0..10) } {
            0 | 1 => world.weather.freeze(&whom, kind, length),
            2 => DAEMONS.iter().for_each(|one| world.weather.freeze(&user(one), kind, length)),
            3 => world.weather.freeze(&whom, EVERYTHING, length),
            4 => world.weather.cut(&whom, kind, length / 4),
            5 => world.weather.outage(length / 4),
            6 => world.kill_daemon(usize::from(replica == DAEMONS[1])),
            7 => {
                world.record.catch_up();
                world.sandbox.forget_history();
            }
            _ => {
                let (requests, lines) = rates[rng.usize(..rates.len())];
                world.weather.set_rates(requests, lines);
            }
        }
    }
}
