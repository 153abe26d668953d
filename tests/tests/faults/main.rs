//! What goes wrong between the daemon and the API server, or with either of them: nothing is bound twice, no place is
//! lost, and in the end all is as if nothing had been.
//!
//! One control plane; each test has daemons of its own, and the cluster for itself.

mod binding;
mod crashes;
mod servers;
mod watches;

use anyhow::Result;
use common::api::names;
use reserve_tests::control_plane::User;
use reserve_tests::programs::{DaemonShape, daemon};
use reserve_tests::proxy::Proxy;
use reserve_tests::shared_cluster::{SharedCluster, TestNamespace};

static SHARED_CLUSTER: SharedCluster = SharedCluster::new("faults", None);

/// A daemon behind a proxy.
fn behind(ns: TestNamespace, proxy: &Proxy) -> Result<DaemonShape> {
    Ok(daemon(names::SCHEDULER_NAME).kubeconfig(proxy.kubeconfig(ns.cluster, User::Daemon)?))
}
