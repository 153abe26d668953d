//! The one list of the kinds that are read besides nodes, pods and workloads: the kinds that `cluster::catalog` stores.
//!
//! A new kind needs one line in the list below, and an arm in each `match` over [`CatalogKind`].

use super::budget::DisruptionBudget;
use super::namespace::Namespace;
use super::object::{Object, ObjectMeta};
use super::quota::ResourceQuota;
use super::service::Service;
use super::storage::{
    CsiDriver, CsiNode, CsiStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass,
    VolumeAttachment,
};
use std::fmt;

/// Makes the two enums. Each line has a kind, its type, and the key by which its objects are grouped.
macro_rules! catalog_objects {
    ($($(#[$doc:meta])* $kind:ident, $type:ty, $group:expr;)+) => {
        /// A kind that `cluster::catalog` stores.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CatalogKind {
            $($(#[$doc])* $kind,)+
        }

        #[derive(Clone, Debug, PartialEq)]
        pub enum CatalogObject {
            $($(#[$doc])* $kind(Box<$type>),)+
        }

        impl CatalogKind {
            pub const ALL: [CatalogKind; [$(stringify!($kind)),+].len()] = [$(CatalogKind::$kind),+];
        }

        $(
            impl From<$type> for CatalogObject {
                fn from(object: $type) -> Self {
                    Self::$kind(Box::new(object))
                }
            }

            impl TryFrom<CatalogObject> for $type {
                type Error = CatalogObject;

                fn try_from(object: CatalogObject) -> Result<Self, CatalogObject> {
                    match object {
                        CatalogObject::$kind(object) => Ok(*object),
                        object => Err(object),
                    }
                }
            }

            impl Object for $type {
                fn meta(&self) -> &ObjectMeta {
                    &self.meta
                }

                fn meta_mut(&mut self) -> &mut ObjectMeta {
                    &mut self.meta
                }

                fn group(&self) -> Option<&str> {
                    let group: fn(&$type) -> Option<&str> = $group;
                    group(self)
                }
            }
        )+
    };
}

catalog_objects! {
    Namespace, Namespace, |_| None;
    Service, Service, |_| None;
    PersistentVolumeClaim, PersistentVolumeClaim, |_| None;
    /// v1 PersistentVolume, grouped by storage class.
    PersistentVolume, PersistentVolume, |volume| volume.class.as_deref();
    /// storage.k8s.io/v1 StorageClass.
    StorageClass, StorageClass, |_| None;
    /// storage.k8s.io/v1 CSINode.
    CsiNode, CsiNode, |_| None;
    /// storage.k8s.io/v1 CSIDriver.
    CsiDriver, CsiDriver, |_| None;
    /// storage.k8s.io/v1 CSIStorageCapacity, grouped by storage class.
    CsiStorageCapacity, CsiStorageCapacity, |capacity| Some(&capacity.class);
    /// storage.k8s.io/v1 VolumeAttachment, grouped by node.
    VolumeAttachment, VolumeAttachment, |attachment| Some(attachment.node.as_str());
    /// policy/v1 PodDisruptionBudget.
    PodDisruptionBudget, DisruptionBudget, |_| None;
    /// v1 ResourceQuota. Scheduling does not read it; automatic reservations stay within it.
    ResourceQuota, ResourceQuota, |_| None;
}

impl CatalogKind {
    /// The value of `kind:`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Namespace => "Namespace",
            Self::Service => "Service",
            Self::PersistentVolumeClaim => "PersistentVolumeClaim",
            Self::PersistentVolume => "PersistentVolume",
            Self::StorageClass => "StorageClass",
            Self::CsiNode => "CSINode",
            Self::CsiDriver => "CSIDriver",
            Self::CsiStorageCapacity => "CSIStorageCapacity",
            Self::VolumeAttachment => "VolumeAttachment",
            Self::PodDisruptionBudget => "PodDisruptionBudget",
            Self::ResourceQuota => "ResourceQuota",
        }
    }

    /// The API group, empty for the core group.
    pub fn group(self) -> &'static str {
        match self {
            Self::Namespace
            | Self::Service
            | Self::PersistentVolumeClaim
            | Self::PersistentVolume
            | Self::ResourceQuota => "",
            Self::PodDisruptionBudget => "policy",
            _ => "storage.k8s.io",
        }
    }

    /// The URL path under which the API server lists the kind, in all namespaces.
    pub fn path(self) -> String {
        match self.group() {
            "" => format!("/api/v1/{}", self.plural()),
            group => format!("/apis/{group}/v1/{}", self.plural()),
        }
    }

    /// The plural, as in URLs and roles.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Namespace => "namespaces",
            Self::Service => "services",
            Self::PersistentVolumeClaim => "persistentvolumeclaims",
            Self::PersistentVolume => "persistentvolumes",
            Self::StorageClass => "storageclasses",
            Self::CsiNode => "csinodes",
            Self::CsiDriver => "csidrivers",
            Self::CsiStorageCapacity => "csistoragecapacities",
            Self::VolumeAttachment => "volumeattachments",
            Self::PodDisruptionBudget => "poddisruptionbudgets",
            Self::ResourceQuota => "resourcequotas",
        }
    }
}

impl fmt::Display for CatalogKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::CatalogKind;
    use std::collections::BTreeSet;

    #[test]
    fn each_kind_has_a_path_of_its_own() {
        let paths: BTreeSet<String> = CatalogKind::ALL.into_iter().map(CatalogKind::path).collect();
        assert_eq!(paths.len(), CatalogKind::ALL.len());
        assert!(paths.contains("/api/v1/persistentvolumeclaims"));
        assert!(paths.contains("/apis/storage.k8s.io/v1/csistoragecapacities"));
        assert!(paths.contains("/apis/policy/v1/poddisruptionbudgets"));
    }
}
