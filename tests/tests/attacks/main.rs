//! Attacks on a real control plane, one test an attack: each must fail. Where a tenant acts, it has only the built-in role `edit` in
//! one namespace. Only so many control planes run at once: the tests here share two.
#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "a test is its own outermost layer")]

mod annotations;
mod daemon_set;
mod flow;
mod installed;
mod reservations;
mod tenant;
mod time;
mod token;
mod volumes;

use common::api::names;
use reserve_tests::programs::daemon;
use reserve_tests::shared_cluster::SharedCluster;

static SHARED_CLUSTER: SharedCluster = SharedCluster::new("attacks", Some(|| daemon(names::SCHEDULER_NAME)));
