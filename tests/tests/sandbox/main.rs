//! The sandbox beside the real thing: the same requests get the same answers, the same story the same end, and real kubectl
//! and the real daemon can live in it.
#![forbid(unsafe_code)]

mod differential;
mod script;
mod steps;
