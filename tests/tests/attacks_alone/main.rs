//! Attacks on a real control plane that each need one of their own, one test an attack: each must fail.
#![forbid(unsafe_code)]

mod forged_replica;
mod servers;
