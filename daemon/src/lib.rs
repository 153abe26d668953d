//! The daemon: a scheduler that honours reservations.
//!
//! A task for each kind that is watched, one that owns all state, and one for each effect under way; `run` starts them.
//!
//! ```text
//!  API server ─list, watch─▶ watch ─Input─▶ the loop, which owns State and Outbox     ─Effect─▶ effects
//!      ▲                   (bounded)             ▲                                                │
//!      └──────────── bind, condition, event ─────┼────────────────────────────────────────────────┤
//!                                                └────────────────── Input::Binding ──────────────┘
//! ```
//!
//! [`state`] with its parts (`scheduler`, `controller`, `owners`, `comparer`, [`queue`]) and [`outbox`] are pure: `handle(input, now) -> effects`. [`watch`] and [`effects`] are the only
//! modules that talk to the API server; [`clock`] is the only one that asks the time.
#![forbid(unsafe_code)]

pub mod admin;
pub mod args;
pub mod clock;
pub(crate) mod comparer;
pub mod config;
pub mod connect;
pub(crate) mod connections;
pub(crate) mod controller;
pub mod effects;
pub(crate) mod extender;
pub mod extender_logic;
pub mod lease;
pub mod log;
pub mod metrics;
pub mod outbox;
pub(crate) mod owners;
pub mod queue;
pub mod rights;
pub mod run;
pub(crate) mod scheduler;
pub mod state;
#[cfg(test)]
pub(crate) mod testing;
pub mod trace;
pub mod watch;
