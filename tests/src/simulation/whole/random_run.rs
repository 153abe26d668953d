//! A random history from a seed: a cluster, some minutes of random actions and faults, and then a calm time in which everything has
//! to settle.

use super::actors;
use super::connection::Process;
use super::fault_injector::EVERYTHING;
use super::scenario::{PodScheduler, WorkloadSpec, node};
use super::sim::{DAEMONS, Sim, user};
use fastrand::Rng;
use kubectl_reserve::HostProgram;
use serde_json::json;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// How long the cluster may settle before the actions and faults begin.
const REST: Duration = Duration::from_secs(20);
/// The calm time at the end: longer than it takes that a daemon leads, a reservation ends and is released, and an unschedulable pod
/// is tried again.
const CALM: Duration = Duration::from_secs(5 * 60 + 30);
/// The most commands that run at a time.
const COMMANDS_MAX: usize = 3;
/// The longest delay of a watch by the worst faults, including the restart of a daemon.
const UNSEEN_MAX: Duration = Duration::from_secs(45);
/// The same in seeds where only writes fail.
const UNSEEN_MIN: Duration = Duration::from_secs(3);

/// Whether only writes fail in this seed, so that watches deliver everything at once.
fn only_writes_fail(seed: u64) -> bool {
    seed.is_multiple_of(2)
}

/// How long an event may not have reached a daemon in this seed.
pub(super) fn unseen(seed: u64) -> Duration {
    if only_writes_fail(seed) { UNSEEN_MIN } else { UNSEEN_MAX }
}

/// Runs the history of a seed.
#[expect(clippy::disallowed_methods, reason = "faults and other actors run meanwhile, on the same thread")]
pub(super) async fn run(sim: &Sim, seed: u64) {
    let mut rng = Rng::with_seed(seed ^ 0x5702);
    let workloads = settle(sim, &mut rng).await;
    let has_faults = rng.u8(0..8) > 0;
    let until = Instant::now() + Duration::from_secs(rng.u64(120..360));
    *sim.calm.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    if only_writes_fail(seed) {
        sim.faults.fail_writes_only();
    }
    let faults = tokio::spawn(inject_faults(sim.clone(), rng.fork(), (has_faults, only_writes_fail(seed))));
    let others = tokio::spawn(actors::schedule(sim.clone(), until));
    let mut commands = JoinSet::new();
    while Instant::now() < until {
        sleep(Duration::from_millis(rng.u64(200..12_000))).await;
        while let Some(ended) = commands.try_join_next() {
            no_panic(sim, &ended);
        }
        if rng.u8(0..3) > 0 {
            actors::act(sim, &mut rng, &workloads);
        } else if commands.len() < COMMANDS_MAX
            && let Some(words) = random_command(sim, &mut rng, &workloads)
        {
            commands.spawn_local(run_command(sim.clone(), words, rng.fork()));
        }
    }
    faults.abort();
    sim.faults.end_faults();
    actors::uncordon_all(sim);
    sim.record.note(format_args!("calm"));
    let all = async {
        while let Some(ended) = commands.join_next().await {
            no_panic(sim, &ended);
        }
    };
    if tokio::time::timeout(CALM, all).await.is_err() {
        sim.record.fail("I19: a command does not end".to_owned());
    }
    actors::uncordon_all(sim);
    sleep(CALM).await;
    sim.check_comparisons();
    others.abort();
}

/// I14: reports a command that panicked.
fn no_panic(sim: &Sim, ended: &Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        sim.record.fail(format!("I14: a command ended: {error}"));
    }
}

/// Makes a cluster that is mostly full, with pods that wait.
async fn settle(sim: &Sim, rng: &mut Rng) -> Vec<WorkloadSpec> {
    sim.make(&json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "tenant" } }));
    let nodes = rng.u64(2..5);
    let mut room = 0;
    for index in 1..=nodes {
        let cores = rng.u64(2..5);
        room += cores;
        sim.make(&node(&format!("n{index}"), cores));
    }
    let mut workloads = Vec::new();
    while room > 0 {
        let replicas = rng.u64(1..4).min(room);
        room -= replicas;
        workloads.push(workload(rng, workloads.len(), usize::try_from(replicas).unwrap_or(1)));
    }
    workloads.iter().for_each(|one| drop(sim.make(&one.object())));
    sleep(REST).await;
    let mut rival = WorkloadSpec::new("rival", 2);
    rival.priority = if rng.u8(0..4) == 0 { 100 } else { 0 };
    sim.make(&rival.object());
    workloads
}

fn workload(rng: &mut Rng, index: usize, replicas: usize) -> WorkloadSpec {
    let mut one = WorkloadSpec::new(&format!("w{index}"), replicas);
    one.kind = if rng.u8(0..3) == 0 { "StatefulSet" } else { "Deployment" };
    one.scheduler = if rng.u8(0..6) == 0 { PodScheduler::Others } else { PodScheduler::Us };
    one.keep = [None, None, Some("40s"), Some("true")][rng.usize(..4)];
    one.priority = [0, 0, 0, 10][rng.usize(..4)];
    one.cpu = [1000, 1000, 500][rng.usize(..3)];
    one.grace = if rng.u8(0..8) == 0 { 315_360_000 } else { 5 };
    one.ports = if rng.u8(0..8) == 0 { rng.u16(1..60) } else { 0 };
    one
}

/// A random command line.
fn random_command(sim: &Sim, rng: &mut Rng, workloads: &[WorkloadSpec]) -> Option<Vec<String>> {
    let one = rng.choice(workloads)?;
    let pods = sim.pods_of(&one.name);
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
            let names = sim.names_of_reservations();
            let ttl = ["20s", "60s", "5m"][rng.usize(..3)];
            format!("extend {} --ttl={ttl}", rng.choice(&names)?)
        }
        _ => format!("release --node n{} -A", rng.u8(1..4)),
    };
    Some(line.split(' ').map(str::to_owned).chain(["--yes".to_owned()]).collect())
}

/// Runs a command. Some are killed in the middle, some are stopped with Ctrl-C.
async fn run_command(sim: Sim, words: Vec<String>, mut rng: Rng) {
    let (process, host) = (Process::default(), HostProgram::default());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let stopped = async {
        sleep(Duration::from_millis(rng.u64(0..15_000))).await;
        match rng.u8(0..6) {
            0 => process.kill(),
            1 => host.interrupt(),
            _ => {}
        }
        std::future::pending().await
    };
    tokio::select! {
        biased;
        _ = sim.command(&words, &process, &host) => {}
        () = stopped => {}
    }
}

/// Injects random faults until it is aborted.
async fn inject_faults(sim: Sim, mut rng: Rng, (has_faults, only_writes_fail): (bool, bool)) {
    if !has_faults {
        return;
    }
    let rates = [(0, 0), (10, 5), (40, 20), (120, 60)];
    loop {
        sleep(Duration::from_millis(rng.u64(1000..25_000))).await;
        let replica = DAEMONS[rng.usize(..2)];
        let whom = user(replica);
        let length = Duration::from_millis(rng.u64(500..25_000));
        let kind = ["nodes", "pods", "replicasets", "deployments", "leases"][rng.usize(..5)];
        sim.record.note(format_args!("weather over {replica}, {kind}, {length:?}"));
        // The first five delay or end watches of a daemon, which must not happen where only writes fail.
        match if only_writes_fail { rng.u8(5..10) } else { rng.u8(0..10) } {
            0 | 1 => sim.faults.freeze(&whom, kind, length),
            2 => DAEMONS.iter().for_each(|one| sim.faults.freeze(&user(one), kind, length)),
            3 => sim.faults.freeze(&whom, EVERYTHING, length),
            4 => sim.faults.cut(&whom, kind, length / 4),
            5 => sim.faults.outage(length / 4),
            6 => sim.kill_daemon(usize::from(replica == DAEMONS[1])),
            7 => {
                sim.record.catch_up();
                sim.sandbox.forget_history();
            }
            _ => {
                let (requests, lines) = rates[rng.usize(..rates.len())];
                sim.faults.set_rates(requests, lines);
            }
        }
    }
}
