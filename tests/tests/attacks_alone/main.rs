//! Attacks on a real control plane that need one, or the daemon, for themselves, one test an attack: each must fail.
#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "a test is its own outermost layer")]

mod forged_replica;
mod servers;
mod storm;
#[path = "../attacks/tenant.rs"]
mod tenant;
#[path = "../attacks/time.rs"]
mod time;

use reserve_tests::shared_cluster::SharedCluster;

/// For tests that start the daemon themselves, and so run one at a time.
static SHARED_CLUSTER: SharedCluster = SharedCluster::new("attacks_alone", None);
