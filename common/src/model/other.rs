//! The kinds of object, besides nodes, pods and workloads, that decisions read: one list of them.

use super::budget::DisruptionBudget;
use super::namespace::Namespace;
use super::object::{Meta, Object};
use super::quota::ResourceQuota;
use super::service::Service;
use super::storage::{
    CsiDriver, CsiNode, CsiStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass,
    VolumeAttachment,
};
use std::fmt;

/// Makes the two enums, and from each line: the kind, its type, what its objects are grouped by.
macro_rules! others {
    ($($(#[$doc:meta])* $kind:ident, $type:ty, $group:expr;)+) => {
        /// A kind of object that decisions read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum OtherKind {
            $($(#[$doc])* $kind,)+
        }

        /// One object of such a kind.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Other {
            $($(#[$doc])* $kind(Box<$type>),)+
        }

        impl OtherKind {
            /// Every kind that we read.
            pub const ALL: [OtherKind; [$(stringify!($kind)),+].len()] = [$(OtherKind::$kind),+];
        }

        $(
            impl From<$type> for Other {
                fn from(object: $type) -> Self {
                    Self::$kind(Box::new(object))
                }
            }

            impl TryFrom<Other> for $type {
                type Error = Other;

                fn try_from(object: Other) -> Result<Self, Other> {
                    match object {
                        Other::$kind(object) => Ok(*object),
                        other => Err(other),
                    }
                }
            }

            impl Object for $type {
                fn meta(&self) -> &Meta {
                    &self.meta
                }

                fn meta_mut(&mut self) -> &mut Meta {
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

others! {
    /// v1 Namespace.
    Namespace, Namespace, |_| None;
    /// v1 Service.
    Service, Service, |_| None;
    /// v1 PersistentVolumeClaim.
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
    /// v1 ResourceQuota. No decision reads it: automatic reservations stay within it.
    ResourceQuota, ResourceQuota, |_| None;
}

impl OtherKind {
    /// The kind as in `kind:`.
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

    /// Where the API server lists it, in all namespaces.
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

impl fmt::Display for OtherKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::OtherKind;
    use std::collections::BTreeSet;

    #[test]
    fn each_kind_has_a_place_of_its_own() {
        let paths: BTreeSet<String> = OtherKind::ALL.into_iter().map(OtherKind::path).collect();
        assert_eq!(paths.len(), OtherKind::ALL.len());
        assert!(paths.contains("/api/v1/persistentvolumeclaims"));
        assert!(paths.contains("/apis/storage.k8s.io/v1/csistoragecapacities"));
        assert!(paths.contains("/apis/policy/v1/poddisruptionbudgets"));
    }
}
