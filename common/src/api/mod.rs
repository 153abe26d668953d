//! Decodes API JSON and annotations into values of [`crate::model`], and encodes what we write.
//!
//! Serde is used only here and in [`crate::config`]. Decoding borrows from the JSON and keeps only what decisions read. There is
//! one function for each kind, such as [`pod::pod`] and [`node::node`].
//!
//! Must not know: clients and requests, the current time.

pub mod budget;
pub mod catalog_object;
mod daemon_set;
pub mod extender;
pub mod list;
mod meta;
pub mod names;
pub mod namespace;
pub mod node;
mod object;
pub mod pod;
pub mod quota;
pub mod replica;
pub mod reservation;
mod selector;
pub mod service;
pub mod storage;
pub mod volume_writes;
pub mod workload;

/// An object could not be decoded. The source says where in the JSON.
#[derive(Debug, thiserror::Error)]
#[error("decode {kind}")]
pub struct DecodeError {
    pub kind: &'static str,
    /// What is wrong, with line and column.
    #[source]
    pub source: serde_json::Error,
}
