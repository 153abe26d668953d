//! The daemon: a scheduler that honours reservations.
//!
//! Four kinds of task, joined by two bounded channels; `run` starts them all.
//!
//! ```text
//!  API server ──list, watch──▶ watch (one task a kind) ──Input──▶ the loop, which owns Scheduler ──Effect──▶ effects
//!      ▲                                                               ▲                                      │
//!      └──────────────── bind, patch, event ──────────────────────────┼───────────────────────────────────────┤
//!                                                                      └───────────────── Input::Answer ───────┘
//! ```
//!
//! [`scheduler`] and [`queue`] are pure: `handle(input, now) -> effects`. [`watch`] and [`effects`] are the only
//! modules that talk to the API server; [`clock`] is the only one that asks the time.
#![forbid(unsafe_code)]

pub mod args;
pub mod clock;
pub mod config;
pub mod effects;
pub mod queue;
pub mod run;
pub mod scheduler;
#[cfg(test)]
pub(crate) mod testing;
pub mod watch;
