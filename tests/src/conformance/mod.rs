//! Our core and kube-scheduler's own code decide the same cases; this compares what they say.
//!
//! `docs/conformance.md` describes cases and results. The oracle is `tests/oracle`, a Go program that links the pinned
//! Kubernetes; the core is `common`, asked by [`core`]. Only what the core serves is compared: the oracle runs each
//! cluster with a profile of exactly those plugins.

pub mod compare;
pub mod core;
pub mod format;
pub mod generator;
pub mod oracle;
pub mod run;
pub mod tally;
