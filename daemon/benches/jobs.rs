//! The cost of Jobs that are created and deleted, for a leader in a cluster with thousands of reserved nodes: CPU time for each
//! Job, and the share of one core at twenty Jobs a second.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "figures are printed; input of our own is well-formed"
)]

use common::api::reservation::encode;
use common::api::{namespace, node, pod, workload};
use common::cluster::{Event, WatchEvent};
use common::model::owner::OwnerKind;
use common::model::{CatalogKind, CatalogObject, Node, Pod, Workload};
use common::plugins::default_registry;
use daemon::queue::Backoff;
use daemon::state::{AnnotationOutcome, Effect, Input, Now, ReservationChange, State};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NODES: usize = 5_000;
const JOBS: usize = 2_000;
const JOBS_PER_SECOND: u64 = 20;
/// The most that is allowed, in thousandths of one core.
const SHARE_MAX: u128 = 10;

fn main() -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let mut state = leader_with_reservations();
    let mut at = 0;
    let before = cpu_time();
    for number in 0..JOBS {
        at += 1000 / JOBS_PER_SECOND;
        drop(state.handle(job(number, false), now(at)));
        drop(state.handle(job(number, true), now(at)));
        if state.next_tick(now(at)).is_some_and(|due| due <= now(at).elapsed) {
            drop(state.handle(Input::Tick, now(at)));
        }
    }
    let took = cpu_time() - before;
    let share = took.as_millis() * 1000 / u128::from(at);
    println!("\n{NODES} reserved nodes, {JOBS} Jobs that come and go, {JOBS_PER_SECOND} a second:");
    let each = took.as_micros() / u128::try_from(JOBS).unwrap();
    println!("{each} µs of CPU time for each, {} % of a core (bar {} %)", percent(share), percent(SHARE_MAX));
    if share < SHARE_MAX { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Thousandths as a percentage with one decimal.
fn percent(thousandths: u128) -> String {
    format!("{}.{}", thousandths / 10, thousandths % 10)
}

/// A leader that has listed `NODES` nodes, each with a reservation for a pod of a Deployment.
fn leader_with_reservations() -> State {
    let mut state = State::new([("reserve-scheduler".into(), default_registry())].into(), Backoff::default());
    state.set_automatic_max(NODES);
    let mut learn = |event| drop(state.handle(Input::Cluster(Box::new(event)), now(0)));
    for kind in OwnerKind::ALL {
        let live =
            if kind == OwnerKind::Deployment { (0..NODES).map(deployment).collect() } else { Vec::new() };
        learn(Event::Workloads(kind, WatchEvent::Relisted(live)));
    }
    for kind in CatalogKind::ALL {
        let live = if kind == CatalogKind::Namespace { vec![default_namespace()] } else { Vec::new() };
        learn(Event::CatalogObjects(kind, WatchEvent::Relisted(live)));
    }
    learn(Event::Nodes(WatchEvent::Relisted(
        (0..NODES).map(|number| node_with_annotations(number, &json!({}))).collect(),
    )));
    // The daemon's own effects say what it would write; the nodes then get these annotations.
    let pods = Event::Pods(WatchEvent::Relisted((0..NODES).map(deleting_pod).collect()));
    for effect in state.handle(Input::Cluster(Box::new(pods)), now(1)) {
        if let Effect::Annotate(annotation) = effect
            && let ReservationChange::Reserve(reservation) = &annotation.change
        {
            let number: usize = annotation.node.as_str()[1..].parse().unwrap();
            let written =
                encode(reservation).unwrap().into_iter().map(|(key, value)| (key, Value::String(value)));
            let node = node_with_annotations(number, &Value::Object(written.collect()));
            let outcome = AnnotationOutcome::Done { version: 2 };
            drop(state.handle(Input::Annotated { annotation, outcome }, now(2)));
            drop(state.handle(Input::Cluster(Box::new(Event::Nodes(WatchEvent::Applied(node)))), now(2)));
        }
    }
    assert_eq!(state.figures(now(3)).reservations["Occupied"], NODES, "a place is kept on each node");
    state
}

fn now(millis: u64) -> Now {
    let elapsed = Duration::from_millis(millis);
    let start: jiff::Timestamp = "2026-11-16T08:00:00Z".parse().unwrap();
    Now { wall: start + elapsed, elapsed }
}

fn uid(kind: u32, number: usize) -> String {
    format!("{number:08x}-{kind:04x}-4000-8000-{number:012x}")
}

fn default_namespace() -> CatalogObject {
    CatalogObject::from(namespace::namespace(r#"{"metadata":{"name":"default","uid":"d"}}"#).unwrap())
}

fn node_with_annotations(number: usize, annotations: &Value) -> Node {
    let version = if annotations.as_object().is_some_and(serde_json::Map::is_empty) { "1" } else { "2" };
    let json = json!({
        "metadata": { "name": format!("n{number}"), "uid": uid(1, number), "resourceVersion": version, "annotations": annotations },
        "status": { "allocatable": { "cpu": "4", "memory": "8Gi", "pods": "110" },
                    "conditions": [{ "type": "Ready", "status": "True" }] },
    });
    node::node(&json.to_string()).unwrap()
}

fn deployment(number: usize) -> Workload {
    let json = json!({ "spec": { "replicas": 1 }, "metadata": { "name": format!("web-{number}"), "namespace": "default",
        "uid": uid(2, number), "resourceVersion": "1", "annotations": { "reserve/keep": "1h" } } });
    workload::workload(OwnerKind::Deployment, &json.to_string()).unwrap()
}

/// The pod of that Deployment, which is being deleted.
fn deleting_pod(number: usize) -> Pod {
    let json = json!({
        "metadata": { "name": format!("web-{number}-0"), "namespace": "default", "uid": uid(3, number), "resourceVersion": "1",
            "deletionTimestamp": "2026-11-16T08:30:00Z", "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "Deployment",
            "name": format!("web-{number}"), "uid": uid(2, number), "controller": true }] },
        "spec": { "nodeName": format!("n{number}"), "containers": [{ "name": "c", "resources": { "requests": { "cpu": "3" } } }] },
        "status": { "phase": "Running" },
    });
    pod::pod(&json.to_string()).unwrap()
}

/// A Job of a CronJob is created, or deleted.
fn job(number: usize, is_gone: bool) -> Input {
    let json = json!({ "spec": { "parallelism": 1 }, "metadata": { "name": format!("nightly-{number}"), "namespace": "default",
        "uid": uid(4, number), "resourceVersion": "1", "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "CronJob",
        "name": "nightly", "uid": uid(5, 0), "controller": true }] } });
    let job = workload::workload(OwnerKind::Job, &json.to_string()).unwrap();
    let seen = if is_gone { WatchEvent::Deleted(job) } else { WatchEvent::Applied(job) };
    Input::Cluster(Box::new(Event::Workloads(OwnerKind::Job, seen)))
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}
