//! The metadata of an object, for code that needs little else of it.

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Metadata {
    pub(crate) name: String,
    pub(crate) annotations: BTreeMap<String, String>,
    pub(crate) finalizers: Vec<String>,
}

/// An object of which only the metadata is read.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct ObjectWithMetadata {
    pub(crate) metadata: Metadata,
}
