//! Compares our daemon with the real kube-scheduler, each alone on a fresh kube-apiserver with thousands of nodes and pods.
//!
//! ```text
//!  for each shape of pod, for each pair:   a cluster for kube-scheduler, one for reserve-daemon (and one for the firehose)
//!  for each cluster:   nodes ▶ pods ▶ scheduler started ▶ a watch counts bindings ▶ scheduler idle ▶ Run
//!  all runs ▶ median of ours/kube-scheduler's over the pairs ▶ table, bars (the limits)
//! ```
//!
//! Only runs of the same pair are compared: other work on the machine slows both alike. The firehose binds pods to nodes by their
//! numbers, without any scheduling: no scheduler can be faster on this API server.

mod bindings;
mod contender;
pub mod firehose;
pub(crate) mod load;
mod plan;
mod report;
mod run;
mod shape;
pub(crate) mod usage;

pub use contender::{Contender, REQUESTS_PER_SECOND};
pub use plan::BenchPlan;
pub use report::{ClusterBenchReport, Row};
pub use run::{Run, run};
pub use shape::Shape;
