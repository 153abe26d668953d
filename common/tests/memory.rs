//! How many bytes a decoded pod and a decoded node keep, heap included, counted by the allocator itself: on their own,
//! and beside others of their kind with which they share what is equal.
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

/// One that shares nothing, such as the only pod of its template.
const POD_ALONE_MAX: usize = 2 << 10;
/// One of many that were made from one template.
const POD_SHARED_MAX: usize = 330;
/// Beside others with the same images, of which the example has as many as a kubelet reports.
const NODE_SHARED_MAX: usize = 4 << 10;

#[test]
fn decoded_objects_are_small() {
    let decode_pod = || common::api::pod::pod(POD);
    let decode_node = || common::api::node::node(NODE);
    let pod_alone = bytes_each::<Pod>(decode_pod, |_, _| {});
    let pod = bytes_each::<Pod>(decode_pod, share_pod);
    let node_alone = bytes_each::<Node>(decode_node, |_, _| {});
    let node = bytes_each::<Node>(decode_node, share_images);
    let figures = format!(
        "a pod of {} bytes of JSON keeps {pod_alone} alone, of at most {POD_ALONE_MAX}, and {pod} beside its like, of \
         at most {POD_SHARED_MAX}; a node of {} bytes of JSON keeps {node_alone} alone and {node} beside its like, of \
         at most {NODE_SHARED_MAX}",
        POD.len(),
        NODE.len(),
    );
    println!("{figures}");
    assert!(pod_alone <= POD_ALONE_MAX && pod <= POD_SHARED_MAX && node <= NODE_SHARED_MAX, "{figures}");
    // A decoder that keeps nothing would pass everything above.
    assert!(pod >= size_of::<Pod>() && node >= size_of::<Node>(), "{figures}");
}

/// What pods of one template share.
fn share_pod(first: &Pod, pod: &mut Pod) {
    assert_eq!((&first.labels, &first.spec, &first.controller), (&pod.labels, &pod.spec, &pod.controller));
    pod.labels = first.labels.clone();
    pod.spec = first.spec.clone();
    pod.controller = first.controller.clone();
}

/// What nodes of one pool share. Not their labels: each has some of its own.
fn share_images(first: &Node, node: &mut Node) {
    assert_eq!(first.images, node.images);
    node.images = first.images.clone();
}

/// The bytes that stay allocated for each of many objects, the object itself included, after each was made to share with
/// the first. The little that the test harness allocates meanwhile is lost in the division.
fn bytes_each<T>(decode: impl Fn() -> Result<T, DecodeError>, share: impl Fn(&T, &mut T)) -> usize {
    let region = Region::new(ALLOCATOR);
    let mut kept: Vec<T> = Vec::with_capacity(OBJECTS);
    kept.extend((0..OBJECTS).filter_map(|_| decode().ok()));
    assert_eq!(kept.len(), OBJECTS, "the example cannot be decoded");
    if let Some((first, others)) = kept.split_first_mut() {
        others.iter_mut().for_each(|other| share(first, other));
    }
    let change = region.change();
    (change.bytes_allocated - change.bytes_deallocated) / OBJECTS
}
