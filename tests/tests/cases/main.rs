//! What becomes of a place in all kinds of cases, each on a namespace of its own on one control plane with one daemon.

mod amounts;
mod foreign;
mod nodes;
mod owners;
mod rivals;

use common::api::names;
use reserve_tests::control_plane::{WorkloadShape, deployment};
use reserve_tests::programs::daemon;
use reserve_tests::shared_cluster::SharedCluster;
use std::time::Duration;

static SHARED_CLUSTER: SharedCluster = SharedCluster::new("cases", Some(|| daemon(names::SCHEDULER_NAME)));

/// How long pods stay terminating, where a test looks at that phase.
const GRACE: Duration = Duration::from_secs(3);

/// A Deployment with pods of 3 CPUs: two of them do not fit a node of 4.
fn web() -> WorkloadShape {
    deployment("web").cpu("3").terminate_after(GRACE)
}

/// Somebody else who wants the same room.
fn stranger() -> WorkloadShape {
    deployment("stranger").cpu("3")
}
