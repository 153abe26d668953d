//! What the command takes in a large cluster: `make bench-cli`.
//!
//! Nodes and pods are made on a real API server, the pods already bound, and one that waits. Then the command is run as
//! people run it, and what it took is held against the bars.

mod fill;
mod measure;
mod report;
mod terminal;

pub use fill::{Size, fill};
pub use measure::{Measured, cpu_of_many, measure};
pub use report::{Bar, Report};
pub use terminal::first_words;

/// Where the pods are, and the one that waits.
pub const NAMESPACE: &str = "large";
/// The pod that waits.
pub const PENDING: &str = "pending";
