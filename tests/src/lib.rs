//! The library of the tests of `kubectl reserve`: a real control plane ([`control_plane`], [`shared_cluster`]), our programs
//! ([`programs`]), a proxy that injects faults ([`proxy`]), a checker of recorded histories ([`history`]) and a simulator
//! ([`simulation`]). The other modules are the libraries of the programs in `bin`.
#![forbid(unsafe_code)]

pub mod bench_cli;
pub mod bench_cluster;
pub mod bugs;
pub mod conformance;
pub mod control_plane;
pub mod dist;
pub mod history;
pub mod image;
pub mod monitoring;
pub mod mutual;
pub mod programs;
pub mod proxy;
pub mod pty;
pub mod requests;
pub mod shared_cluster;
pub mod simulation;
