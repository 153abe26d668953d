//! What the tests of `kubectl reserve` share: a real control plane, and words to speak to it.
#![forbid(unsafe_code)]

pub mod bench_cli;
pub mod bench_cluster;
pub mod bugs;
pub mod conformance;
pub mod control_plane;
pub mod dist;
pub mod history;
pub mod image;
pub mod mutual;
pub mod programs;
pub mod proxy;
pub mod pty;
pub mod requests;
pub mod shared_cluster;
pub mod simulation;
