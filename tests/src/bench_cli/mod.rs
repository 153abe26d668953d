//! Measures the command in a large cluster: `make bench-cli`.
//!
//! [`fill()`] makes nodes, bound pods and one pending pod on a real API server. Then `bin/bench-cli.rs` runs the command as users
//! do ([`measure()`], [`first_words`]) and compares the figures with limits, here called bars ([`CliBenchReport`]).

mod fill;
mod measure;
mod report;
mod terminal;

pub use fill::{ClusterSize, fill};
pub use measure::{Measurement, cpu_of_many, measure};
pub use report::{Bar, CliBenchReport};
pub use terminal::first_words;

/// The namespace of all pods.
pub const NAMESPACE: &str = "large";
/// The pending pod.
pub const PENDING: &str = "pending";
