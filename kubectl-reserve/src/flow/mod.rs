//! The flows of the command as plain values: `step(answer, time) -> request`. No client, no clock, no printing, so that a test or a
//! simulation can drive them through every answer, crash and Ctrl-C.

pub mod budget;
pub mod keep;
pub mod places;
pub mod recreate;
