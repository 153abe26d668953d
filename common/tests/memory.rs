//! How many bytes a decoded pod and a decoded node keep, heap included, counted by the allocator itself.
//!
//! One test in a process of its own: whatever else ran beside it would be counted too.

use common::api::DecodeError;
use common::model::{Node, Pod};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const POD: &str = include_str!("../src/api/fixtures/pod.json");
const NODE: &str = include_str!("../src/api/fixtures/node.json");

const OBJECTS: usize = 1_000;

const POD_BYTES_MAX: usize = 1 << 10;
const NODE_BYTES_MAX: usize = 4 << 10;

#[test]
fn decoded_objects_are_small() {
    let pod = bytes_each::<Pod>(|| common::api::pod::pod(POD));
    let node = bytes_each::<Node>(|| common::api::node::node(NODE));
    let figures = format!(
        "a pod of {} bytes of JSON keeps {pod}, of at most {POD_BYTES_MAX}; \
         a node of {} bytes of JSON keeps {node}, of at most {NODE_BYTES_MAX}",
        POD.len(),
        NODE.len(),
    );
    println!("{figures}");
    assert!(pod <= POD_BYTES_MAX && node <= NODE_BYTES_MAX, "{figures}");
    // A decoder that keeps nothing would pass everything above.
    assert!(pod >= size_of::<Pod>() && node >= size_of::<Node>(), "{figures}");
}

/// The bytes that stay allocated for each of many objects, the object itself included. The little that the test harness
/// allocates meanwhile is lost in the division.
fn bytes_each<T>(decode: impl Fn() -> Result<T, DecodeError>) -> usize {
    let region = Region::new(ALLOCATOR);
    let mut kept: Vec<T> = Vec::with_capacity(OBJECTS);
    kept.extend((0..OBJECTS).filter_map(|_| decode().ok()));
    let change = region.change();
    assert_eq!(kept.len(), OBJECTS, "the example cannot be decoded");
    (change.bytes_allocated - change.bytes_deallocated) / OBJECTS
}
