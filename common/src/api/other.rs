//! An object of any of the kinds in [`OtherKind`], from API JSON.

use super::{DecodeError, budget, namespace, quota, service, storage};
use crate::model::other::{Other, OtherKind};

/// Decodes an object of `kind`.
pub fn other(kind: OtherKind, json: &str) -> Result<Other, DecodeError> {
    match kind {
        OtherKind::Namespace => namespace::namespace(json).map(Other::from),
        OtherKind::Service => service::service(json).map(Other::from),
        OtherKind::PersistentVolumeClaim => storage::claim(json).map(Other::from),
        OtherKind::PersistentVolume => storage::volume(json).map(Other::from),
        OtherKind::StorageClass => storage::class(json).map(Other::from),
        OtherKind::CsiNode => storage::node(json).map(Other::from),
        OtherKind::CsiDriver => storage::driver(json).map(Other::from),
        OtherKind::CsiStorageCapacity => storage::capacity(json).map(Other::from),
        OtherKind::VolumeAttachment => storage::attachment(json).map(Other::from),
        OtherKind::PodDisruptionBudget => budget::budget(json).map(Other::from),
        OtherKind::ResourceQuota => quota::quota(json).map(Other::from),
    }
}
