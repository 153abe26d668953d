//! The wire: API JSON and annotations to model values, and back.
//!
//! Serde lives in this room and nowhere else; what leaves it is a plain value of [`crate::model`]. Decoding
//! borrows from the JSON and keeps only what decisions read.

pub mod budget;
mod daemon_set;
pub mod extender;
pub mod list;
mod meta;
pub mod names;
pub mod namespace;
pub mod node;
mod object;
pub mod other;
pub mod pod;
pub mod quota;
pub mod replica;
pub mod reservation;
mod selector;
pub mod service;
pub mod storage;
pub mod workload;

/// An object that could not be decoded. Says where in the JSON.
#[derive(Debug, thiserror::Error)]
#[error("decode {kind}")]
pub struct DecodeError {
    /// The kind of object that was expected.
    pub kind: &'static str,
    /// What the JSON reader found.
    #[source]
    pub source: serde_json::Error,
}
