//! The one list of the kinds that are read besides nodes, pods and workloads: the kinds that `cluster::catalog` stores.
//!
//! A new kind needs one line in the list below, and an arm in each `match` over [`CatalogKind`].

use super::budget::DisruptionBudget;
use super::namespace::Namespace;
use super::object::{Object, ObjectMeta, list_path};
use super::quota::ResourceQuota;
use super::service::Service;
use super::storage::{
    CsiDriver, CsiNode, CsiStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass,
    VolumeAttachment,
};
use std::fmt;

/// Makes the two enums. Each line has a kind, its type, API group (empty for the core group) and names (`kind:`, and the plural in
/// URLs and roles), and the key by which its objects are grouped.
macro_rules! catalog_objects {
    ($($(#[$doc:meta])* $kind:ident, $type:ty, $names:expr, $group:expr;)+) => {
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

            const fn names(self) -> (&'static str, &'static str, &'static str) {
                match self {
                    $(Self::$kind => $names,)+
                }
            }
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

            impl<'o> TryFrom<&'o CatalogObject> for &'o $type {
                type Error = ();

                fn try_from(object: &'o CatalogObject) -> Result<Self, ()> {
                    if let CatalogObject::$kind(object) = object { Ok(object) } else { Err(()) }
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
    Namespace, Namespace, ("", "Namespace", "namespaces"), |_| None;
    Service, Service, ("", "Service", "services"), |_| None;
    PersistentVolumeClaim, PersistentVolumeClaim, ("", "PersistentVolumeClaim", "persistentvolumeclaims"), |_| None;
    /// Grouped by storage class.
    PersistentVolume, PersistentVolume, ("", "PersistentVolume", "persistentvolumes"), |volume| volume.class.as_deref();
    StorageClass, StorageClass, (STORAGE, "StorageClass", "storageclasses"), |_| None;
    CsiNode, CsiNode, (STORAGE, "CSINode", "csinodes"), |_| None;
    CsiDriver, CsiDriver, (STORAGE, "CSIDriver", "csidrivers"), |_| None;
    /// Grouped by storage class.
    CsiStorageCapacity, CsiStorageCapacity, (STORAGE, "CSIStorageCapacity", "csistoragecapacities"),
        |capacity| Some(&capacity.class);
    /// Grouped by node.
    VolumeAttachment, VolumeAttachment, (STORAGE, "VolumeAttachment", "volumeattachments"),
        |attachment| Some(attachment.node.as_str());
    PodDisruptionBudget, DisruptionBudget, ("policy", "PodDisruptionBudget", "poddisruptionbudgets"), |_| None;
    /// Scheduling does not read it; automatic reservations stay within it.
    ResourceQuota, ResourceQuota, ("", "ResourceQuota", "resourcequotas"), |_| None;
}

const STORAGE: &str = "storage.k8s.io";

impl CatalogKind {
    /// The API group, empty for the core group.
    pub fn group(self) -> &'static str {
        self.names().0
    }

    /// The value of `kind:`.
    pub fn as_str(self) -> &'static str {
        self.names().1
    }

    /// The plural, as in URLs and roles.
    pub fn plural(self) -> &'static str {
        self.names().2
    }

    /// The URL path under which the API server lists the kind, in all namespaces.
    pub fn path(self) -> String {
        list_path(self.group(), "", self.plural())
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
