//! The sandbox beside the real thing: the same requests get the same answers, the same story the same end, and real kubectl
//! and the real daemon can live in it.
#![forbid(unsafe_code)]

mod both;
mod daemon;
mod differential;
mod kubectl;
mod place;
mod script;
mod steps;
