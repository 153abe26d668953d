//! What a reservation is, and whether a pod fits a node: the one mind that the daemon and the command share.
//!
//! The rooms, in the direction of the data (a room may use those above it, never those below):
//!
//! - [`model`]: the world as plain values: pods, nodes, owners, amounts, reservations.
//! - [`api`]: the wire. API JSON and annotations to model values and back. Serde lives here and in [`config`].
//! - [`config`]: the scheduler's configuration file as values, or everything that is wrong with it.
//! - [`cluster`]: the one mutable thing, what we believe about the cluster; and the ledger of each node.
//! - [`framework`]: the questions a plugin can answer, and the values it answers in.
//! - [`plugins`]: the answers, one folder each.
//! - [`cycle`]: one pod, one snapshot, one decision with its reasons.
//!
//! Nothing here waits, asks a clock, writes a log or talks to a server: what is found is returned, reasons
//! included. The scheduler and `kubectl reserve explain` call the same functions, so they cannot disagree.
#![forbid(unsafe_code)]

pub mod model;

pub mod api;

pub mod config;

pub mod cluster;

pub mod framework;

pub mod plugins;

pub mod cycle;

#[cfg(test)]
pub(crate) mod testing;
