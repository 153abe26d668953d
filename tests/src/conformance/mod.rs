//! Compares the decisions of our core with those of kube-scheduler's own code, case by case. [`run::run`] is the entry point.
//!
//! `docs/conformance.md` describes cases and results. The oracle is `tests/oracle`, a Go program that links the pinned Kubernetes;
//! the core is `common`, called by [`core`]. Only plugins that the core implements are compared: the oracle runs each cluster with
//! a profile of exactly those plugins.

pub mod compare;
pub mod core;
pub mod format;
pub mod generator;
pub mod hints;
pub mod oracle;
pub mod run;
pub mod tally;
