//! Decodes storage objects.

mod attachment;
mod claim;
mod class;
mod csi;
#[cfg(test)]
mod tests;
mod volume;

pub use attachment::attachment;
pub use claim::claim;
pub use class::class;
pub use csi::{capacity, driver, node};
pub use volume::volume;

use super::meta::{NullableList, Str};
use crate::model::storage::{AccessMode, AccessModes};
use serde::Deserialize;

/// A resource list of a claim or volume, whose only resource is `storage`.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Amounts<'a> {
    storage: Option<Str<'a>>,
}

/// The status of a claim or volume.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct StatusWire<'a> {
    phase: Option<Str<'a>>,
}

fn access_modes(modes: &NullableList<Str<'_>>) -> AccessModes {
    modes.0.iter().map(|mode| AccessMode::from_name(&mode.0)).collect()
}
