//! How many bytes the belief needs for each node and each pod, counted by the allocator.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "figures are printed; nothing else reads them")]

mod test_cluster;

use common::cluster::{Event, WatchEvent};
use common::plugins::default_registry;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::process::ExitCode;
use test_cluster::{PODS_PER_NODE, PodStream, bound, empty, is_bench_run, pod};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const NODES: usize = 100_000;
const SHAPES: usize = 64;

const NODE_BYTES_MAX: usize = 1 << 10;
const POD_BYTES_MAX: usize = 400;
const TOTAL_BYTES_MAX: usize = 600 << 20;

fn main() -> ExitCode {
    if !is_bench_run() {
        return ExitCode::SUCCESS;
    }
    let region = Region::new(ALLOCATOR);
    let allocated = || {
        let change = region.change();
        change.bytes_allocated - change.bytes_deallocated
    };
    let mut cluster = empty(NODES);
    let nodes = allocated();
    let pods = NODES * PODS_PER_NODE;
    for number in 0..pods {
        cluster.apply(Event::Pods(WatchEvent::Applied(bound(number, number % SHAPES, number % NODES))));
    }
    let belief = allocated();
    let mut stream = PodStream::new(cluster, default_registry());
    for number in 0..4 * SHAPES {
        stream.place(|fresh| pod(fresh, number % SHAPES), |_, _, _| ());
    }
    let total = allocated();
    println!("\n{:<58} {:>12} {:>12}", "memory, counted by the allocator", "measured", "bar");
    let is_within = [
        print_figure("bytes for each of 100,000 nodes", nodes / NODES, NODE_BYTES_MAX),
        print_figure("bytes for each of 1,000,000 pods", (belief - nodes) / pods, POD_BYTES_MAX),
        print_figure("MiB for all of them", belief >> 20, TOTAL_BYTES_MAX >> 20),
        print_figure("MiB for all of them, with an index for 64 shapes", total >> 20, TOTAL_BYTES_MAX >> 20),
    ];
    if is_within.contains(&false) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Prints a figure with its limit. Returns whether it is within the limit.
fn print_figure(what: &str, measured: usize, bar: usize) -> bool {
    let verdict = if measured <= bar { "" } else { "  MISSED" };
    println!("{what:<58} {measured:>12} {bar:>12}{verdict}");
    measured <= bar
}
