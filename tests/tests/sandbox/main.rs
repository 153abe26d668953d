//! The sandbox beside the real thing: the same requests get the same answers, the same story the same end, and real kubectl
//! and the real daemon can live in it.
#![forbid(unsafe_code)]
#![expect(clippy::needless_pass_by_value, reason = "requests are written as tables, by value")]
#![expect(clippy::large_futures, reason = "each is awaited once, by a test")]
#![expect(clippy::expect_used, reason = "what a test writes down itself is well-formed")]

mod both;
mod daemon;
mod differential;
mod flows;
mod kubectl;
mod place;
mod recording;
mod replay;
mod script;
mod steps;
