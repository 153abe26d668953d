//! Our daemon beside the real kube-scheduler, each alone on a fresh kube-apiserver with thousands of nodes and pods.
//!
//! ```text
//!  for each shape of pod, for each pair:   a cluster for kube-scheduler, one for reserve-daemon (and one for the firehose)
//!  for each cluster:   nodes ▶ pods ▶ scheduler started ▶ a watch counts bindings ▶ scheduler at rest ▶ Run
//!  all runs ▶ medians of what the two of a pair have to each other ▶ table, bars
//! ```
//!
//! Only what stands in a pair is compared: other work on the machine meets both alike. The firehose binds pods to nodes
//! by their numbers, without any scheduling: nobody can be faster on this API server.

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
pub use plan::Plan;
pub use report::{Report, Row};
pub use run::{Run, run};
pub use shape::Shape;
