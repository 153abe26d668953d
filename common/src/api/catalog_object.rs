//! Decodes an object of any [`CatalogKind`].

use super::{DecodeError, budget, namespace, quota, service, storage};
use crate::model::catalog_object::{CatalogKind, CatalogObject};

pub fn catalog_object(kind: CatalogKind, json: &str) -> Result<CatalogObject, DecodeError> {
    match kind {
        CatalogKind::Namespace => namespace::namespace(json).map(CatalogObject::from),
        CatalogKind::Service => service::service(json).map(CatalogObject::from),
        CatalogKind::PersistentVolumeClaim => storage::claim(json).map(CatalogObject::from),
        CatalogKind::PersistentVolume => storage::volume(json).map(CatalogObject::from),
        CatalogKind::StorageClass => storage::class(json).map(CatalogObject::from),
        CatalogKind::CsiNode => storage::node(json).map(CatalogObject::from),
        CatalogKind::CsiDriver => storage::driver(json).map(CatalogObject::from),
        CatalogKind::CsiStorageCapacity => storage::capacity(json).map(CatalogObject::from),
        CatalogKind::VolumeAttachment => storage::attachment(json).map(CatalogObject::from),
        CatalogKind::PodDisruptionBudget => budget::budget(json).map(CatalogObject::from),
        CatalogKind::ResourceQuota => quota::quota(json).map(CatalogObject::from),
    }
}
