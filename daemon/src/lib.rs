//! The daemon: a scheduler that enforces reservations.
//!
//! Entry point: [`run::run`]. It starts one task for each watched kind, one loop that owns the state, and one task for each
//! effect in progress.
//!
//! ```text
//!  API server ─list, watch─▶ watch ─Input─▶ the loop, which owns State and Outbox     ─Effect─▶ effects
//!      ▲                   (bounded)             ▲                                                │
//!      └──────────── bind, condition, event ─────┼────────────────────────────────────────────────┤
//!                                                └────────────────── Input::Binding ──────────────┘
//! ```
//!
//! [`state`] with its parts (`scheduler`, `controller`, `owners`, `comparer`, [`queue`]) and [`outbox`] are pure:
//! `handle(input, now) -> effects`. They do not know the API server: [`watch`], [`effects`], [`lease`], [`admin`], [`rights`]
//! and `extender` call it. [`clock`] is the only module that asks for the time.
#![forbid(unsafe_code)]

pub mod admin;
pub mod args;
pub(crate) mod certificates;
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
