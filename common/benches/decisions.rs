//! How much CPU time a decision takes, and whether it is the same as that of a scan of all nodes.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "figures are printed; nothing else reads them")]

mod test_cluster;

use common::cluster::{Cluster, Event, WatchEvent};
use common::cycle::{Decision, schedule, schedule_by_scan};
use common::model::{Node, OwnerKind, Pod, Workload};
use common::plugins::default_registry;
use criterion::Criterion;
use std::cell::RefCell;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Duration;
use test_cluster::{NOW, PODS_PER_NODE, PodStream, bound, cpu_time, empty, is_bench_run, node, pod, uid};

/// The same allocator as in the daemon.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SMALL: usize = 5_000;
const LARGE: usize = 100_000;
const SHAPES: usize = 64;

/// A measured figure with its limit (`bar`).
struct Figure {
    what: &'static str,
    bar: Duration,
    total: Duration,
    count: u32,
}

/// All figures, printed at the end.
#[derive(Default)]
struct Figures(RefCell<Vec<Figure>>);

impl Figures {
    /// Measures `one` many times. The figure is the mean over all measured runs, warm-up excluded.
    fn measure(
        &self,
        bench: &mut Criterion,
        what: &'static str,
        bar: Duration,
        mut one: impl FnMut() -> Duration,
    ) {
        let (mut total, mut count) = (Duration::ZERO, 0_u32);
        bench.bench_function(what, |bencher| {
            bencher.iter_custom(|runs| {
                let took: Duration = (0..runs).map(|_| one()).sum();
                total += took;
                count += u32::try_from(runs).unwrap_or(u32::MAX);
                took
            });
        });
        self.0.borrow_mut().push(Figure { what, bar, total, count });
    }

    /// Prints all figures. Returns whether each is within its limit.
    fn print(&self) -> bool {
        let mut is_met = true;
        println!("\n{:<58} {:>10} {:>10}", "CPU time", "measured", "bar");
        for figure in self.0.borrow().iter().filter(|figure| figure.count > 0) {
            let mean = figure.total / figure.count;
            let verdict = if mean <= figure.bar { "" } else { "  MISSED" };
            println!("{:<58} {:>10} {:>10}{verdict}", figure.what, micros(mean), micros(figure.bar));
            is_met &= mean <= figure.bar;
        }
        is_met
    }
}

fn micros(time: Duration) -> String {
    let tenths = time.as_nanos() / 100;
    format!("{}.{} µs", tenths / 10, tenths % 10)
}

fn main() -> ExitCode {
    if !is_bench_run() {
        return ExitCode::SUCCESS;
    }
    let mut bench = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    let figures = Figures::default();
    small(&mut bench, &figures);
    workloads(&mut bench, &figures);
    large(&mut bench, &figures);
    bench.final_summary();
    if figures.print() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn small(bench: &mut Criterion, figures: &Figures) {
    let micro = Duration::from_micros;
    let mut stream = PodStream::new(cluster(SMALL), default_registry());
    figures.measure(bench, "5,000 nodes: basic pod", micro(50), || {
        stream.place(|number| pod(number, 0), nothing)
    });
    figures.measure(bench, "5,000 nodes: default topology spread", micro(150), || {
        stream.place(replica, nothing)
    });
    figures.measure(bench, "5,000 nodes: required pod affinity", micro(150), || {
        stream.place(affinity_pod, nothing)
    });
    let (mut cluster, registry) = (stream.cluster, stream.registry);
    let large = too_large();
    figures.measure(bench, "5,000 nodes: unschedulable pod with full reasons", micro(1_000), || {
        let (message, took) = timed(|| match schedule(&large, &cluster.snapshot(NOW), &registry) {
            Decision::NoFit(no_fit) => no_fit.message(),
            other => panic!("{other:?}"),
        });
        assert!(message.starts_with("0/5000 nodes are available: "), "{message}");
        took
    });
}

fn large(bench: &mut Criterion, figures: &Figures) {
    let micro = Duration::from_micros;
    let mut stream = PodStream::new(cluster(LARGE), default_registry());
    let (sampled, registry) = (RefCell::new(0), default_registry());
    let decisions = RefCell::new(0_usize);
    // Places pods of every shape first, so that the index has a class for each shape.
    for number in 0..2 * SHAPES {
        stream.place(|fresh| pod(fresh, number % SHAPES), nothing);
    }
    figures.measure(bench, "100,000 nodes: 64 pod shapes interleaved", micro(100), || {
        *decisions.borrow_mut() += 1;
        let is_sampled = decisions.borrow().is_multiple_of(997);
        let check = |cluster: &mut Cluster, pod: &Pod, decision: &Decision| {
            if is_sampled {
                assert_eq!(schedule_by_scan(pod, &cluster.snapshot(NOW), &registry), *decision);
                *sampled.borrow_mut() += 1;
            }
        };
        stream.place(|number| pod(number, number % SHAPES), check)
    });
    println!(
        "{} of {} decisions were compared with asking every plugin about every node: all agree",
        sampled.borrow(),
        decisions.borrow()
    );
    assert!(*sampled.borrow() > 0 || *decisions.borrow() < 997);
    changes(bench, figures, stream.cluster);
}

/// The cost of applying an event. Each event is decoded right before, as in the daemon.
fn changes(bench: &mut Criterion, figures: &Figures, mut cluster: Cluster) {
    let micro = Duration::from_micros;
    let mut learn = |event: Event| timed(|| cluster.apply(event)).1;
    let there = |number: usize| bound(number, number % SHAPES, number % LARGE);
    let (mut come, mut gone, mut turn) = (1_usize << 40, 1_usize << 40, 0_usize);
    figures.measure(bench, "100,000 nodes: adding a pod", micro(5), || {
        come += 1;
        learn(Event::Pods(WatchEvent::Applied(there(come))))
    });
    figures.measure(bench, "100,000 nodes: removing a pod", micro(5), || {
        // For each pod that is removed another is added, so that there is always a pod to remove.
        come += 1;
        learn(Event::Pods(WatchEvent::Applied(there(come))));
        gone += 1;
        learn(Event::Pods(WatchEvent::Deleted(there(gone))))
    });
    figures.measure(bench, "100,000 nodes: changing a node", micro(5), || {
        turn += 1;
        let mut changed = node(turn * 7 % LARGE);
        changed.resource_version = (1 << 40) + turn as u64;
        changed.unschedulable = (turn / LARGE).is_multiple_of(2);
        learn(Event::Nodes(WatchEvent::Applied(changed)))
    });
}

/// The cost of applying workload events when every node has reservations.
fn workloads(bench: &mut Criterion, figures: &Figures) {
    let mut cluster = cluster(SMALL);
    for number in 0..SMALL {
        cluster.apply(Event::Nodes(WatchEvent::Applied(reserved(number))));
    }
    let mut turn = 0;
    figures.measure(bench, "5,000 reserved nodes: a new Job", Duration::from_micros(500), || {
        turn += 1;
        let event = Event::Workloads(OwnerKind::Job, WatchEvent::Applied(job(turn)));
        timed(|| cluster.apply(event)).1
    });
    figures.measure(bench, "5,000 reserved nodes: a list of workloads", Duration::from_millis(50), || {
        let event = Event::Workloads(OwnerKind::ReplicationController, WatchEvent::Relisted(Vec::new()));
        timed(|| cluster.apply(event)).1
    });
}

/// The node of this number, with a reservation of an owner.
fn reserved(number: usize) -> Node {
    let owner = uid(6, number % 100);
    let json = format!(r#"{{"metadata":{{"name":"x","annotations":{{"reserve.cpu/{owner}":"1"}}}}}}"#);
    let read = common::api::node::node(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    Node { reservations: read.reservations, resource_version: 1 << 40, ..node(number) }
}

/// A Job of a CronJob.
fn job(number: usize) -> Workload {
    let json = format!(
        r#"{{"metadata":{{"name":"nightly-{number}","namespace":"namespace-0","uid":"{}","resourceVersion":"1",
        "ownerReferences":[{{"apiVersion":"batch/v1","kind":"CronJob","name":"nightly","uid":"{}","controller":true}}]}},
        "spec":{{"parallelism":1}}}}"#,
        uid(7, number),
        uid(8, 0)
    );
    common::api::workload::workload(OwnerKind::Job, &json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

fn nothing(_: &mut Cluster, _: &Pod, _: &Decision) {}

/// A waiting pod of the ReplicaSet `web`. `spec` adds fields to its spec: members of a JSON object, each followed by a comma.
fn web(number: usize, spec: &str) -> Pod {
    let json = format!(
        r#"{{"metadata":{{"name":"web-{number:08x}","namespace":"namespace-0","uid":"{uid}","resourceVersion":"1",
        "labels":{{"app":"web"}},"ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web",
        "uid":"{owner}","controller":true}}]}},
        "spec":{{{spec}"schedulerName":"reserve-scheduler","containers":[{{"name":"main",
        "image":"registry.example.com/app-1:1","resources":{{"requests":{{"cpu":"50m","memory":"64Mi"}}}}}}]}}}}"#,
        uid = uid(5, number),
        owner = uid(4, 0),
    );
    common::api::pod::pod(&json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// A pod of a ReplicaSet; such pods are spread over hosts and zones by default.
fn replica(number: usize) -> Pod {
    web(number, "")
}

/// A pod with required affinity to the pods `web` in a zone. It has no controller, so that the default spread constraints do not
/// apply.
fn affinity_pod(number: usize) -> Pod {
    let term =
        r#"{"labelSelector":{"matchLabels":{"app":"web"}},"topologyKey":"topology.kubernetes.io/zone"}"#;
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let affinity = format!(r#""affinity":{{"podAffinity":{{"{required}":[{term}]}}}},"#);
    Pod { controller: None, ..web(number, &affinity) }
}

fn too_large() -> Pod {
    let json = r#"{"metadata":{"name":"too-large","namespace":"default","uid":"x"},"spec":{"containers":[
        {"name":"main","resources":{"requests":{"cpu":"1000"}}}]}}"#;
    common::api::pod::pod(json).unwrap_or_else(|error| panic!("{error}"))
}

/// A cluster of `nodes` nodes with [`PODS_PER_NODE`] pods each, of 64 shapes.
fn cluster(nodes: usize) -> Cluster {
    let mut cluster = empty(nodes);
    for number in 0..nodes * PODS_PER_NODE {
        cluster.apply(Event::Pods(WatchEvent::Applied(bound(number, number % SHAPES, number % nodes))));
    }
    cluster
}

/// Runs `work` and returns its CPU time, without the time that reading the clock takes.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    static CLOCK: OnceLock<Duration> = OnceLock::new();
    let clock = CLOCK.get_or_init(|| {
        let reads = 10_000;
        let before = cpu_time();
        for _ in 0..reads {
            black_box(cpu_time());
        }
        cpu_time().saturating_sub(before) / reads
    });
    let before = cpu_time();
    let result = work();
    (result, cpu_time().saturating_sub(before).saturating_sub(*clock))
}
