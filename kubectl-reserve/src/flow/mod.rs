//! The logic of recreating and moving pods, without a client, a clock or printing: tests and the simulation drive it through every
//! answer, crash and Ctrl-C. `recreate` is a state machine; `commands/recreate` carries out its requests. `keep`, `places` and
//! `budget` are plain functions on what was read.

pub mod budget;
pub mod keep;
pub mod places;
pub mod recreate;
