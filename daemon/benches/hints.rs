//! The cost of changes that help nobody, for a leader with 10,000 pods that fit no node: the share of one core at a hundred changes a
//! second. No pod may be tried because of them.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "figures are printed; input of our own is well-formed"
)]

use common::api::catalog_object::catalog_object;
use common::api::{node, pod};
use common::cluster::{Event, WatchEvent};
use common::model::owner::OwnerKind;
use common::model::{CatalogKind, Node, Pod};
use common::plugins::default_registry;
use daemon::queue::Backoff;
use daemon::state::{Input, Now, State};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NODES: usize = 1_000;
const PODS: usize = 10_000;
const CHANGES: u64 = 6_000;
const CHANGES_PER_SECOND: u64 = 100;
/// The most that is allowed, in thousandths of one core.
const SHARE_MAX: u128 = 50;

fn main() -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let shares = [("of 200 templates", 200), ("all different", PODS)].map(|(what, templates)| {
        let share = share(templates);
        println!("{PODS} hopeless pods, {what}, {CHANGES_PER_SECOND} irrelevant changes a second:");
        println!("{} % of a core (bar {} %)", percent(share), percent(SHARE_MAX));
        share
    });
    if shares.iter().all(|share| *share < SHARE_MAX) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The share of a core that the changes cost, in thousandths, with pods of so many templates.
fn share(templates: usize) -> u128 {
    let mut state = leader_with_full_nodes();
    for number in 0..PODS {
        drop(state.learn(Input::Cluster(Box::new(pod_event(&hopeless(number, templates)))), now(0)));
    }
    while state.next_tick(now(0)) == Some(Duration::ZERO) {
        drop(state.act(now(0)));
    }
    assert_eq!(state.figures(now(0)).unschedulable, PODS, "all pods wait for a change");
    let before = cpu_time();
    let mut at = 20_000;
    for number in 0..CHANGES {
        at += 1000 / CHANGES_PER_SECOND;
        let effects = state.handle(Input::Cluster(Box::new(irrelevant(number))), now(at));
        assert_eq!(effects, [], "change {number} helps nobody");
    }
    let took = cpu_time() - before;
    assert_eq!(state.figures(now(at)).unschedulable, PODS, "no pod was moved");
    took.as_millis() * u128::from(CHANGES_PER_SECOND) / u128::from(CHANGES)
}

/// Thousandths as a percentage with one decimal.
fn percent(thousandths: u128) -> String {
    format!("{}.{}", thousandths / 10, thousandths % 10)
}

/// A leader in a cluster whose nodes have a large and a small pod each.
fn leader_with_full_nodes() -> State {
    let mut state = State::new([("reserve-scheduler".into(), default_registry())].into(), Backoff::default());
    let mut learn = |event| drop(state.handle(Input::Cluster(Box::new(event)), now(0)));
    for kind in OwnerKind::ALL {
        learn(Event::Workloads(kind, WatchEvent::Relisted(Vec::new())));
    }
    for kind in CatalogKind::ALL {
        learn(Event::CatalogObjects(kind, WatchEvent::Relisted(Vec::new())));
    }
    learn(Event::Nodes(WatchEvent::Relisted((0..NODES).map(|number| node_of(number, &json!({}))).collect())));
    let pods =
        (0..NODES).flat_map(|number| [on_node(number, "large", "3", 0), on_node(number, "small", "10m", 0)]);
    learn(Event::Pods(WatchEvent::Relisted(pods.collect())));
    state
}

fn now(millis: u64) -> Now {
    let elapsed = Duration::from_millis(millis);
    let start: jiff::Timestamp = "2026-11-16T08:00:00Z".parse().unwrap();
    Now { wall: start + elapsed, elapsed }
}

fn node_of(number: usize, more: &Value) -> Node {
    let name = format!("n{number}");
    let mut json = json!({
        "metadata": { "name": name, "uid": name, "labels": { "kubernetes.io/hostname": name } },
        "status": { "allocatable": { "cpu": "4", "memory": "8Gi", "pods": "110" } },
    });
    for (path, value) in more.as_object().unwrap() {
        json[path.split('/').next().unwrap()][path.split('/').nth(1).unwrap()] = value.clone();
    }
    node::node(&json.to_string()).unwrap()
}

fn on_node(number: usize, app: &str, cpu: &str, version: u64) -> Pod {
    let name = format!("{app}-{number}");
    let json = json!({
        "metadata": { "name": name, "namespace": "default", "uid": name, "labels": { "app": app, "v": version.to_string() } },
        "spec": { "nodeName": format!("n{number}"), "containers": [requests(cpu)] },
        "status": { "phase": "Running" },
    });
    pod::pod(&json.to_string()).unwrap()
}

fn requests(cpu: &str) -> Value {
    json!({ "name": "c", "resources": { "requests": { "cpu": cpu } } })
}

/// A pod that fits no node, for one of five reasons.
fn hopeless(number: usize, templates: usize) -> Pod {
    let template = number % templates;
    let terms = |app: &str| {
        let term = json!({ "topologyKey": "kubernetes.io/hostname", "labelSelector": { "matchLabels": { "app": app } } });
        json!({ "requiredDuringSchedulingIgnoredDuringExecution": [term] })
    };
    let (cpu, reason) = match template % 5 {
        0 => (1001 + template, json!({})),
        1 => (1, json!({ "nodeSelector": { "disk": "none-has" } })),
        2 => (1, json!({ "affinity": { "podAffinity": terms("absent") } })),
        3 => (1, json!({ "affinity": { "podAntiAffinity": terms("large") } })),
        _ => (
            1,
            json!({ "volumes": [{ "name": "data", "persistentVolumeClaim": { "claimName": "missing" } }] }),
        ),
    };
    let mut json = json!({
        "metadata": { "name": format!("p{number}"), "namespace": "default", "uid": format!("p{number}"),
            "ownerReferences": [{ "apiVersion": "example.com/v1", "kind": "Own", "name": format!("t{template}"),
            "uid": format!("t{template}") }], "labels": { "template": template.to_string() } },
        "spec": { "schedulerName": "reserve-scheduler", "containers": [requests(&format!("{cpu}m"))] },
    });
    for (field, value) in reason.as_object().unwrap() {
        json["spec"][field] = value.clone();
    }
    pod::pod(&json.to_string()).unwrap()
}

fn pod_event(pod: &Pod) -> Event {
    Event::Pods(WatchEvent::Applied(pod.clone()))
}

/// Small pods come, go and get labels, nodes get labels, taints and memory, claims of others change.
fn irrelevant(change: u64) -> Event {
    let number = usize::try_from(change / 7).unwrap() % NODES;
    let event = |node| Event::Nodes(WatchEvent::Applied(node));
    match change % 7 {
        0 => Event::Pods(WatchEvent::Deleted(on_node(number, "small", "10m", 0))),
        1 => pod_event(&on_node(number, "small", "10m", 0)),
        2 => pod_event(&on_node(number, "large", "3", change)),
        3 => event(node_of(
            number,
            &json!({ "metadata/labels": { "kubernetes.io/hostname": format!("n{number}"), "rack": "r" } }),
        )),
        4 => event(node_of(number, &json!({ "spec/taints": [{ "key": "a", "effect": "NoExecute" }] }))),
        5 => event(node_of(
            number,
            &json!({ "status/allocatable": { "cpu": "4", "memory": "9Gi", "pods": "110" } }),
        )),
        _ => {
            let json = json!({ "metadata": { "name": format!("c{change}"), "namespace": "other", "uid": format!("c{change}") } });
            let kind = CatalogKind::PersistentVolumeClaim;
            let claim = catalog_object(kind, &json.to_string()).unwrap();
            Event::CatalogObjects(kind, WatchEvent::Applied(claim))
        }
    }
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}
