//! `kubectl reserve pod` and `restart` on the real control plane, through the real kubectl, in clusters that are full and have somebody
//! waiting for every room.

mod budgets;
mod ctrl_c;
mod drains;
mod kinds;
mod places;
mod restarts;
mod stops;
mod tenants;
mod typed;
mod unkept;

use common::api::names;
use reserve_tests::control_plane::{WorkloadShape, deployment};
use reserve_tests::programs::daemon;
use reserve_tests::shared_cluster::SharedCluster;
use std::time::Duration;

static SHARED_CLUSTER: SharedCluster = SharedCluster::new("recreate", Some(|| daemon(names::SCHEDULER_NAME)));

/// How long pods stay terminating.
const GRACE: Duration = Duration::from_secs(3);

/// A Deployment with pods of 3 CPUs: two of them do not fit a node of 4.
fn web() -> WorkloadShape {
    deployment("web").cpu("3").memory("1Gi").terminate_after(GRACE)
}

/// Somebody else who wants the same room.
fn stranger() -> WorkloadShape {
    deployment("stranger").cpu("3")
}
